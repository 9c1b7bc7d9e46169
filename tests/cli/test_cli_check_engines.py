"""`check` tells of a scenario that this machine cannot run, and another may."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from mptcplab.cli.app import app
from mptcplab.engine.kernel.machine import has_congestion_control

TEXT = """\
hosts:
  client: {interfaces: {a: {}}, congestion_control: nobodys.cc}
  server: {interfaces: {a: {}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s}}
traffic: [bulk: {from: client, to: server, duration: 1 s}]
"""


@pytest.mark.skipif(has_congestion_control("nobodys.cc"), reason="this kernel has it")
def test_a_name_that_only_another_kernel_has_is_no_mistake(tmp_path: Path) -> None:
    scenario = tmp_path / "own.yaml"
    scenario.write_text(TEXT)
    outcome = CliRunner().invoke(app, ["check", str(scenario)])
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith(
        f"{scenario}: good (kernel engine only; not on this machine: "
        "this kernel has no congestion control nobodys.cc (it has: "
    )

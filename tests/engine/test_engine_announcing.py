"""A client that opens subflows and announces its addresses too."""

from pathlib import Path

import polars as pl
import pytest
from tests.engine.launch import run
from tests.engine.system import needs_mptcp

from mptcplab.recording import Recording

pytestmark = needs_mptcp
SHARED = """\
name: announcing
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}}}, mptcp: {{path_manager: {client}}}}}
  server: {{interfaces: {{lan: {{}}}}, mptcp: {{path_manager: {server}}}}}
routers: {{r: {{}}}}
links:
  a: {{between: [client.a, r.a], rate: 10 Mbit/s, delay: 2 ms}}
  b: {{between: [client.b, r.b], rate: 10 Mbit/s, delay: 2 ms}}
  lan: {{between: [r.lan, server.lan]}}
traffic:
  - bulk: {{from: client, to: server, direction: up, duration: 1 s}}
repetitions: 1
"""


@pytest.mark.parametrize("engine", ["kernel", "sim"])
@pytest.mark.parametrize(
    ("client", "server", "announces"),
    [
        ("subflow-signal", "default", True),
        ("subflow-signal", "signal", True),
        ("fullmesh", "default", False),
    ],
)
def test_it_opens_its_subflow_and_the_server_hears_of_its_address(
    tmp_path: Path, client: str, server: str, announces: bool, engine: str
) -> None:
    scenario = tmp_path / "announcing.yaml"
    scenario.write_text(SHARED.format(client=client, server=server))
    ended = run(["run", scenario, "--engine", engine, "--out", "out"], tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "NOT MULTIPATH" not in ended.stdout
    recording = Recording.open(tmp_path / "out/mptcp/1")
    assert recording.transfers["joins"].to_list() == [1]
    heard = recording.counters.filter(
        pl.col("node") == "server", pl.col("name") == "MPTcpExtAddAddr"
    )
    assert (heard["value"].sum() > 0) == announces

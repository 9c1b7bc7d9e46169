"""Faucet, a controller of others with several tables and VLANs, over our switches."""

import os
import shutil
from pathlib import Path

import pytest
from tests.engine.system import needs_namespaces

from mptcplab.engine import run
from mptcplab.scenario import loads

FAUCET = shutil.which(os.environ.get("MPTCPLAB_FAUCET", "faucet"))
CONFIGURATION = """\
vlans: {lab: {vid: 100}}
dps:
  s1: {dp_id: 1, hardware: Open vSwitch, interfaces: &ports {1: &port {native_vlan: lab}, 2: *port}}
  s2: {dp_id: 2, hardware: Open vSwitch, interfaces: *ports}
"""
SCENARIO = """\
hosts: {{client: {{interfaces: {{eth: {{}}}}}}, server: {{interfaces: {{eth: {{}}}}}}}}
switches: {{s1: {{}}, s2: {{}}}}
controller: {{command: {command}, discovery: 3 s}}
links:
  in: {{between: [client.eth, s1.in], rate: 100 Mbit/s}}
  path: {{between: [s1.out, s2.in], rate: 10 Mbit/s, delay: 5 ms}}
  out: {{between: [s2.out, server.eth], rate: 100 Mbit/s}}
traffic:
  - bulk: {{from: client, to: server, direction: up, size: 1 MB}}
variants: {{it: {{protocol: tcp}}}}
repetitions: 1
"""


@needs_namespaces
@pytest.mark.skipif(
    FAUCET is None, reason="there is no Faucet (`MPTCPLAB_FAUCET` names its program)"
)
def test_faucet_controls_the_switches(tmp_path: Path) -> None:
    assert FAUCET is not None
    configuration = tmp_path / "faucet.yaml"
    configuration.write_text(CONFIGURATION)
    settings = {
        # Its program executes another one of its environment.
        "PATH": f"{Path(FAUCET).parent}:{os.environ['PATH']}",
        "FAUCET_CONFIG": configuration,
        "FAUCET_LOG": "STDOUT",
        "FAUCET_EXCEPTION_LOG": "STDERR",
    }
    words = ["env", *(f"{name}={value}" for name, value in settings.items()), "faucet"]
    text = SCENARIO.format(command=[str(word) for word in words])
    scenario = loads(text, "faucet.yaml", tmp_path)
    recording = run(scenario, "it", tmp_path / "out", engine="kernel")
    assert recording.frame("transfers")["error"].to_list() == [None]
    entries = recording.frame("flow_entries")
    # Tags of its VLAN are pushed in one table, and popped by a group or an action of another.
    pushed = entries.filter(entries["instructions"].str.contains("push_vlan 0x8100"))
    assert set(pushed["switch"]) == {"s1", "s2"}
    assert entries["table_id"].n_unique() > 2
    used = entries.filter(entries["packets"] > 100)
    assert set(used["switch"]) == {"s1", "s2"}

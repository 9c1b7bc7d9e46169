"""A run makes nothing in the network namespace of its caller."""

from pathlib import Path

from tests.engine.launch import MARK, environment, finish, start, wait_for
from tests.engine.system import marked, needs_namespaces, network_namespaces, network_state
from tests.engine.worlds import TCP, two_paths

pytestmark = needs_namespaces

TRAFFIC = """\
traffic:
  - bulk: {{from: client, to: server, way: up, duration: 2 s}}
  - command: {{on: client, run: touch {flag}, start: 500 ms}}
"""


def test_the_callers_network_is_the_same_before_during_and_after(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    scenario = two_paths(tmp_path, "caller", TRAFFIC.format(flag=flag) + TCP)
    mark = f"{MARK}={tmp_path.name}"
    env = environment(tmp_path / "home", **{MARK: tmp_path.name})
    before = network_state()
    own = Path("/proc/self/ns/net").stat().st_ino

    process = start(["run", scenario, "--out", "out"], tmp_path, env=env)
    wait_for("the traffic", flag.exists)
    during = network_state()
    namespaces = network_namespaces(mark)
    ended = finish(process)

    assert ended.returncode == 0, ended.stderr
    assert during == before
    assert own in namespaces, "the command line stays where it was started"
    assert len(namespaces) > 1, "the lab does not"
    wait_for("the end of all processes", lambda: not marked(mark))
    assert network_state() == before

"""Names of congestion controls and schedulers that only some kernel has."""

from pathlib import Path

import pytest

from mptcplab.scenario import loads
from mptcplab.scenario.algorithm import algorithm_name

TEXT = """\
hosts:
  client: {interfaces: {a: {}}, congestion_control: CONTROL, mptcp: {scheduler: SCHEDULER}}
  server: {interfaces: {a: {}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s}}
traffic: [bulk: {from: client, to: server, duration: 1 s}]
"""


@pytest.mark.parametrize("name", ["mycc", "bbr3", "bpf_cubic", "a", "abcdefghijklmno", "2.x+y-z"])
def test_any_name_that_linux_takes_can_be_given(name: str) -> None:
    client = loads(TEXT.replace("CONTROL", name).replace("SCHEDULER", name), "x").hosts["client"]
    assert client.congestion_control == name
    assert client.mptcp.scheduler is not None
    assert client.mptcp.scheduler.name == name


def test_what_the_running_kernel_has_is_no_mistake(tmp_path: Path) -> None:
    listed = tmp_path / "available"
    check = algorithm_name(["cubic", "reno"], listed)
    with pytest.raises(ValueError, match=r'^did you mean "cubic"\?$'):
        check("cubik")
    listed.write_text("reno cubik\n")
    assert check("cubik") == "cubik"
    with pytest.raises(ValueError, match=r'^did you mean "reno"\?$'):
        check("renn")

"""A scenario with two paths between two switches, and files of policies for it."""

from pathlib import Path

from mptcplab.scenario import Scenario, load

SWITCHED = """\
name: switched
hosts:
  client: {interfaces: {a: {}, b: {}}}
  server: {interfaces: {a: {}, b: {}}}
switches: {s1: {}, s2: {}}
controller: "own.py:choose"
links:
  client-a: {between: [client.a, s1.a], rate: 100 Mbit/s}
  client-b: {between: [client.b, s1.b], rate: 100 Mbit/s}
  narrow: {between: [s1.narrow, s2.narrow], rate: 1 Mbit/s, delay: 10 ms}
  wide: {between: [s1.wide, s2.wide], rate: 10 Mbit/s, delay: 10 ms}
  server-a: {between: [s2.a, server.a], rate: 100 Mbit/s}
  server-b: {between: [s2.b, server.b], rate: 100 Mbit/s}
traffic:
  - http: {from: client, to: server, size: 100 kB}
variants: {mptcp: {}}
repetitions: 1
"""


def switched(folder: Path, policy: str, text: str = SWITCHED) -> Scenario:
    """The scenario with a policy of this text."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.py").write_text(policy)
    (folder / "switched.yaml").write_text(text)
    return load(folder / "switched.yaml")

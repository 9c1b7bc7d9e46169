"""Small scenarios that the tests write."""

from pathlib import Path

TWO_PATHS = """\
name: {name}
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}}}}}
  server: {{interfaces: {{a: {{}}, b: {{}}}}}}
links:
  a: {{between: [client.a, server.a], rate: 20 Mbit/s, delay: 5 ms}}
  b: {{between: [client.b, server.b], rate: 20 Mbit/s, delay: 5 ms}}
"""
MPTCP = """\
variants:
  mptcp: {protocol: mptcp}
repetitions: 1
"""
TCP = """\
variants:
  tcp: {protocol: tcp, via: a}
repetitions: 1
"""


def two_paths(folder: Path, name: str, rest: str) -> Path:
    """Writes a scenario of a client and a server with the paths `a` and `b`; gives its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.yaml"
    file.write_text(TWO_PATHS.format(name=name) + rest)
    return file

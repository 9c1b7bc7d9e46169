"""The cells of the cross-check beyond the catalogue, each a scenario with one variant: short and
long flows over unequal paths as in the Birzeit study, two paths whose rates and delays differ,
three paths of which one fails, several subflows of one pair of addresses, traffic both ways, and
five streams.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from mptcplab.scenario import Scenario, load, loads, with_overrides

from .shortened import shortened

GAPS = (0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 0.99)
"""How much less the Birzeit study's second path carries than its first, as a part of it."""
LONG_GAPS = (0.0, *GAPS)
SIZES = {
    "10 KiB": 10,
    "50 KiB": 10,
    "100 KiB": 10,
    "200 KiB": 10,
    "500 KiB": 5,
    "1 MiB": 3,
    "2 MiB": 2,
    "5 MiB": 1,
}
"""Of its files, with the number of downloads that a cell has."""
NARROW_SIZES = ("50 KiB", "100 KiB", "200 KiB", "500 KiB", "1 MiB")
"""Of its files over a second path of which one link is narrow."""
_NARROW = {"links.path2-2.rate": "1 Mbit/s"}
RATE_RATIOS = (1, 3, 10, 100)
DELAY_RATIOS = (1, 3, 10, 30)
LOSSES = (0.0, 0.1, 1.0)
"""In percent."""
RANDOM_CELLS = 100
SECONDS = 6.0
"""Length of bulk transfers."""
_FIRST_MBPS, _FIRST_MS = 40.0, 5.0
_BIRZEIT_RATE = 10.0
_BIRZEIT_LINKS = ("path2-1", "path2-2", "path2-3")
_TWO_PATHS = """\
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}}}{client}}}
  server: {{interfaces: {{a: {{}}, b: {{}}}}}}
links:
  a: {{between: [client.a, server.a], rate: {rate_a} Mbit/s, delay: {delay_a} ms{loss}}}
  b: {{between: [client.b, server.b], rate: {rate_b} Mbit/s, delay: {delay_b} ms{loss}}}
traffic:
  - bulk: {{from: client, to: server, way: {way}, duration: 6 s{streams}}}
variants:
  cell: {{protocol: {protocol}{via}}}
"""
_THREE_PATHS = """\
hosts:
  client: {{interfaces: {{a: {{}}, b: {{}}, c: {{backup: {backup}}}}}}}
  server: {{interfaces: {{a: {{}}, b: {{}}, c: {{}}}}}}
links:
  a: {{between: [client.a, server.a], rate: 30 Mbit/s, delay: 5 ms, loss: 0.1 %}}
  b: {{between: [client.b, server.b], rate: 20 Mbit/s, delay: 25 ms}}
  c: {{between: [client.c, server.c], rate: 10 Mbit/s, delay: 150 ms}}
traffic:
  - bulk: {{from: client, to: server, way: down, duration: 6 s}}
events: [{events}]
variants:
  cell: {{}}
"""


@dataclass(frozen=True)
class Cell:
    """A scenario with one variant."""

    name: str
    scenario: Scenario
    variant: str = "cell"


def cells(seconds: float = SECONDS) -> Iterator[Cell]:
    """All of them; bulk transfers take so long. A failure begins after a third of it and lasts for
    another third."""
    for cell in _cells():
        yield Cell(cell.name, shortened(cell.scenario, seconds), cell.variant)


def drawn(count: int = RANDOM_CELLS, seconds: float = SECONDS) -> Iterator[Cell]:
    """Two random paths each: 1 to 100 Mbit/s and 1 to 100 ms, drawn evenly on a logarithmic scale,
    and a loss of 0, 0.1 or 1 %. A number gives the same cell always."""
    for seed in range(1, count + 1):
        draw = random.Random(seed)
        paths = {
            key: round(10 ** draw.uniform(0, 2), 2)
            for key in ("rate_a", "delay_a", "rate_b", "delay_b")
        }
        loss, way = draw.choice(LOSSES), draw.choice(("up", "down"))
        cell = _two_paths(f"random {seed}", loss=loss, way=way, **paths)
        yield Cell(cell.name, shortened(cell.scenario, seconds))


def _cells() -> Iterator[Cell]:
    for gap, (size, count) in product(GAPS, SIZES.items()):
        settings = _second_path(gap) | {
            "traffic.0.http.size": size,
            "traffic.0.http.count": count,
            "variants.mptcp-100k.set": {},
        }
        scenario = with_overrides(load("birzeit/short-equal"), settings)
        yield Cell(f"birzeit {size}, gap {gap:g}", scenario, "mptcp-100k")
    for size in NARROW_SIZES:
        settings = {"traffic.0.http.size": size, "traffic.0.http.count": SIZES[size]}
        scenario = with_overrides(
            load("birzeit/unequal-links"), settings | {"variants.narrow-100k.set": _NARROW}
        )
        yield Cell(f"birzeit {size}, one narrow link", scenario, "narrow-100k")
    for gap in LONG_GAPS:
        scenario = with_overrides(load("birzeit/long-equal"), _second_path(gap))
        yield Cell(f"birzeit long, gap {gap:g}", scenario, "mptcp")
    for rates, delays, loss in product(RATE_RATIOS, DELAY_RATIOS, LOSSES):
        yield _two_paths(
            f"rates {rates}:1, delays 1:{delays}, loss {loss:g} %",
            rate_b=round(_FIRST_MBPS / rates, 3),
            delay_b=_FIRST_MS * delays,
            loss=loss,
        )
    for backup, failing in product((False, True), ("", "a", "b", "c")):
        name = f"three paths{', one a backup' if backup else ''}"
        events = ", ".join(
            f"{{at: {at} s, link: {failing}, up: {up}}}"
            for at, up in ((2, "false"), (4, "true"))
            if failing
        )
        text = _THREE_PATHS.format(backup=str(backup).lower(), events=events)
        yield Cell(f"{name}, {failing or 'none'} fails", loads(text))
    for subflows in (2, 4):
        client = f", mptcp: {{path_manager: {{ndiffports: {subflows}}}}}"
        yield _two_paths(f"ndiffports {subflows}", client=client)
    for protocol in ("tcp", "mptcp"):
        via = ", via: a" if protocol == "tcp" else ""
        for ratio in (1, 10):
            text = f"{protocol} both ways, rates {ratio}:1"
            both = {"rate_a": 20.0, "rate_b": 20.0 / ratio}
            yield _two_paths(text, way="both", protocol=protocol, via=via, **both)
        name = f"{protocol}, five streams"
        yield _two_paths(name, streams=", streams: 5", protocol=protocol, via=via)


def _second_path(gap: float) -> dict[str, object]:
    rate = f"{_BIRZEIT_RATE * (1 - gap):g} Mbit/s"
    return {f"links.{link}.rate": rate for link in _BIRZEIT_LINKS}


def _two_paths(name: str, loss: float = 0, **parts: object) -> Cell:
    usual: dict[str, object] = {
        "client": "",
        "rate_a": _FIRST_MBPS,
        "delay_a": _FIRST_MS,
        "rate_b": _FIRST_MBPS / 2,
        "delay_b": _FIRST_MS * 2,
        "loss": f", loss: {loss:g} %" if loss else "",
        "way": "down",
        "streams": "",
        "protocol": "mptcp",
        "via": "",
    }
    return Cell(name, loads(_TWO_PATHS.format(**usual | parts)))

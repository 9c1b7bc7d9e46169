"""The ladder as SVG: readable in print and without colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from xml.sax.saxutils import escape

from mptcplab.report.palette import Style
from mptcplab.trace import words
from mptcplab.trace.render.ladder import Ladder, Step

_TIME = 86.0
"""Room for the times at the left."""
_COLUMN = 30.0
"""Between the lines of two addresses of one end."""
_GAP = 560.0
"""Between the ends: room for the options."""
_RIGHT = 84.0
"""Room for the subflow at the right."""
_LINE = 14.0
_CHARACTERS = 78
"""Of a line of options."""
_SLOPE = 9.0
_DASHES = {"-": "", "--": "7 4", "-.": "8 3 2 3", ":": "2 3"}
_STYLE = """
  .ladder { font: 12px system-ui, sans-serif; fill: #111; }
  .ladder .life { stroke: #999; stroke-width: 1; }
  .ladder .soft { fill: #555; font-size: 11px; }
  .ladder .name { font-weight: 600; }
  .ladder .option { font: 11px ui-monospace, monospace; }
  .ladder .arrow { fill: none; stroke-width: 1.6; }
""".strip("\n")


def ladder_svg(ladder: Ladder, looks: Mapping[int, Style], origin_ns: int) -> str:
    """Returns an SVG element: time goes down, an arrow a packet, the options above it."""
    places = _places(ladder)
    width = max(places.values(), default=0.0) + _RIGHT
    top = 24.0 + _LINE * max(len(ladder.clients), len(ladder.servers))
    body: list[str] = []
    y = top + 10
    for number, step in enumerate(ladder.steps):
        if number == _break(ladder):
            y += 18
            text = f"⋮  {ladder.left_out} steps are left out here"
            body.append(_text((places["c0"] + width - _RIGHT) / 2, y, text, "soft", "middle"))
            y += 12
        elif step.skipped:
            y += 18
            what = "1 packet" if step.skipped == 1 else f"{words.count(step.skipped)} packets"
            body.append(_text(_middle(ladder, places), y, f"⋮  {what}", "soft", "middle"))
            y += 6
        lines = _words(step)
        y += 12 + _LINE * len(lines)
        body += _step(step, lines, y, places, ladder, looks, origin_ns)
        y += _SLOPE
    height = y + 22
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="ladder" role="img" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'font-family="system-ui, sans-serif">',
        "<title>Ladder of the packets that open, announce, change and close</title>",
        f"<style>\n{_STYLE}\n</style>",
    ]
    return "\n".join([*head, *_lives(ladder, places, top, height - 10), *body, "</svg>"]) + "\n"


def _break(ladder: Ladder) -> int | None:
    """Returns the step before which some are left out."""
    from mptcplab.trace.render.ladder import FIRST

    return FIRST if ladder.left_out else None


def _places(ladder: Ladder) -> dict[str, float]:
    """Returns where the line of each address is: `c0`, `c1`, … and `s0`, …."""
    places = {f"c{n}": _TIME + 14 + n * _COLUMN for n in range(len(ladder.clients))}
    begin = _TIME + 14 + max(0, len(ladder.clients) - 1) * _COLUMN + _GAP
    return places | {f"s{n}": begin + n * _COLUMN for n in range(len(ladder.servers))}


def _middle(ladder: Ladder, places: Mapping[str, float]) -> float:
    last = places.get(f"c{len(ladder.clients) - 1}", 0.0)
    return (last + places.get("s0", last)) / 2


def _lives(ladder: Ladder, places: Mapping[str, float], top: float, bottom: float) -> Iterator[str]:
    """Returns the addresses, each on a line of its own above its lifeline."""
    for side, addresses, anchor in (("c", ladder.clients, "start"), ("s", ladder.servers, "end")):
        for number, address in enumerate(addresses):
            x = places[f"{side}{number}"]
            level = number if side == "s" else len(addresses) - 1 - number
            y = top - _LINE * level - 6
            yield f'<path class="life" d="M{x:.1f} {y + 4:.1f}V{bottom:.1f}"/>'
            end = "client" if side == "c" else "server"
            shift = -4 if anchor == "start" else 4
            yield _text(x + shift, y, f"{end} {address}", "name", anchor)


def _step(
    step: Step,
    lines: list[tuple[str, str]],
    y: float,
    places: Mapping[str, float],
    ladder: Ladder,
    looks: Mapping[int, Style],
    origin_ns: int,
) -> Iterator[str]:
    client, server = (
        (step.source, step.target) if step.sender == "client" else (step.target, step.source)
    )
    left = places[f"c{ladder.clients.index(client)}"]
    right = places[f"s{ladder.servers.index(server)}"]
    start, end = (left, right) if step.sender == "client" else (right, left)
    style = looks[step.subflow]
    dashes = _DASHES[style.dashes]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    yield (
        f'<path class="arrow" stroke="{style.colour}"{dashed} '
        f'd="M{start:.1f} {y:.1f}L{end:.1f} {y + _SLOPE:.1f}"/>'
    )
    back = -9 if end > start else 9
    tip = y + _SLOPE
    yield (
        f'<path fill="{style.colour}" d="M{end:.1f} {tip:.1f}l{back} -4.2v8z"/>'
        f'<circle fill="{style.colour}" cx="{start:.1f}" cy="{y:.1f}" r="2.4"/>'
    )
    yield _text(_TIME - 8, y + 4, words.seconds(step.t_ns, origin_ns) + " s", "soft", "end")
    edge = max(places.values()) + 10
    yield _text(edge, y + 4, f"subflow {step.subflow}", "soft", "start")
    middle = _middle(ladder, places)
    for number, (text, css) in enumerate(reversed(lines)):
        yield _text(middle, y - 5 - _LINE * number, text, css, "middle")


def _words(step: Step) -> list[tuple[str, str]]:
    """Returns the lines above an arrow and their classes: flags, then options, wrapped."""
    lines = [(f"{step.head}  (frame {step.frame})", "name")]
    for option in step.options:
        lines += [(part, "option") for part in wrap(option, _CHARACTERS)]
    return lines


def _text(x: float, y: float, text: str, css: str, anchor: str) -> str:
    return (
        f'<text class="{css}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
    )

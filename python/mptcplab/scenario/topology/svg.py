"""A scenario's topology as SVG: readable in print and without colours.

Hosts have square corners, routers round ones and a grey ground, switches square corners and a grey
ground; a half-duplex link is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape

from mptcplab.scenario.link import Link
from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import End, Network, build
from mptcplab.scenario.profiles import is_half_duplex
from mptcplab.scenario.topology.layout import (
    NODE_WIDTH,
    Box,
    Layout,
    lay_out,
)
from mptcplab.scenario.words import link_words

_LEGEND_HEIGHT = 26.0
_LABEL_CHARACTERS = 26
_BEND = 60.0
"""Where a link has come to the height of its right end; its label stands beyond."""
_STYLE = """
  .topology { font: 12px system-ui, sans-serif; fill: #111; }
  .topology .node { fill: #fff; stroke: #111; stroke-width: 1.5; }
  .topology .router, .topology .switch { fill: #eee; }
  .topology .name { font-weight: 600; font-size: 14px; }
  .topology .address, .topology .words { font-size: 11px; fill: #444; }
  .topology .ground { fill: #fff; }
  .topology .link { fill: none; stroke: #111; stroke-width: 1.5; }
  .topology .shared { stroke-dasharray: 6 4; }
  .topology .label { paint-order: stroke; stroke: #fff; stroke-width: 5; stroke-linejoin: round; }
""".strip("\n")


def draw_svg(scenario: Scenario) -> str:
    """An SVG element that stands alone or in a page.

    A page finds the line of each link by `data-link`, and the node where it begins by `data-start`;
    its name by `data-name`.
    """
    network = build(scenario)
    layout = lay_out(scenario, network)
    height = layout.height + _LEGEND_HEIGHT
    title = escape(scenario.title or scenario.name)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="topology" role="img" '
        f'viewBox="0 0 {layout.width:.0f} {height:.0f}" width="{layout.width:.0f}" '
        f'height="{height:.0f}" font-family="system-ui, sans-serif">',
        f"<title>Topology: {title}</title>",
        f"<style>\n{_STYLE}\n</style>",
        *_links(scenario, layout),
        *(part for box in layout.boxes if box.node for part in _node(network, box)),
        *_labels(scenario, layout),
        *_legend(scenario, layout),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _links(scenario: Scenario, layout: Layout) -> Iterator[str]:
    for name in layout.courses:
        css = "link shared" if is_half_duplex(scenario.links[name]) else "link"
        yield (
            f'<path class="{css}" data-link="{escape(name)}" '
            f'data-start="{escape(_start(layout, name).node or "")}" d="{_path(layout, name)}"/>'
        )


def _start(layout: Layout, link: str) -> Box:
    """The box where the line of a link begins: the left one, or the upper one of a column."""
    first, last = layout.courses[link][0], layout.courses[link][-1]
    return min(first, last, key=lambda box: box.y) if first.column == last.column else first


def _path(layout: Layout, link: str) -> str:
    course = layout.courses[link]
    first, last = course[0], course[-1]
    if first.column == last.column:
        upper, lower = sorted((first, last), key=lambda box: box.y)
        x = layout.beside(link)
        return f"M{x:.1f} {upper.y + upper.height:.1f}V{lower.y:.1f}"
    x, y = first.port(link, "right")
    steps = [f"M{x:.1f} {y:.1f}"]
    for box in course[1:]:
        to_x, to_y = box.port(link, "left")
        level, bend = x + _BEND, x + _BEND / 2
        steps.append(f"C{bend:.1f} {y:.1f} {bend:.1f} {to_y:.1f} {level:.1f} {to_y:.1f}H{to_x:.1f}")
        x, y = to_x, to_y
        if box is not last:
            x, y = box.port(link, "right")
            steps.append(f"H{x:.1f}")
    return "".join(steps)


def _node(network: Network, box: Box) -> Iterator[str]:
    node = box.node or ""
    css, radius = "node", 0
    if node in network.routers:
        css, radius = "node router", 16
    elif node in network.switches:
        css = "node switch"
    yield (
        f'<rect class="{css}" x="{box.x:.1f}" y="{box.y:.1f}" rx="{radius}" '
        f'width="{NODE_WIDTH:.0f}" height="{box.height:.1f}"/>'
    )
    yield _text(box.x + NODE_WIDTH / 2, box.y + 21, node, "name", "middle")
    for side, links in (("left", box.left), ("right", box.right)):
        for link in links:
            x, y = box.port(link, side)
            end = next(end for end in network.links[link] if end.node == node)
            anchor, inset = ("start", 7) if side == "left" else ("end", -7)
            yield _text(x + inset, y - 2, end.interface, "", anchor)
            yield _text(x + inset, y + 11, _address(network, end), "address", anchor)


def _address(network: Network, end: End) -> str:
    addresses = network.addresses[end]
    more = " …" if len(addresses) > 1 else ""
    return f"{addresses[0].ip}{more}" if addresses else ""


def _labels(scenario: Scenario, layout: Layout) -> Iterator[str]:
    for name, course in layout.courses.items():
        x, y = _label_place(layout, name)
        lines = list(_label_lines(scenario.links[name]))
        if course[0].column == course[-1].column:
            # The line runs through the label: clear its ground.
            yield (
                f'<rect class="ground" x="{x - NODE_WIDTH / 2:.1f}" y="{y - 16:.1f}" '
                f'width="{NODE_WIDTH:.0f}" height="{20 + 13 * len(lines)}"/>'
            )
        yield _text(x, y - 5, name, "label", "middle", f' data-name="{escape(name)}"')
        for index, line in enumerate(lines):
            yield _text(x, y + 13 * (index + 1), line, "words label", "middle")


def _label_place(layout: Layout, link: str) -> tuple[float, float]:
    course = layout.courses[link]
    first, last = course[0], course[-1]
    if first.column == last.column:
        upper, lower = sorted((first, last), key=lambda box: box.y)
        return layout.beside(link), (upper.y + upper.height + lower.y) / 2
    if len(course) > 2:
        lane = course[len(course) // 2]
        return lane.x + NODE_WIDTH / 2, lane.y + lane.height / 2
    x, _ = first.port(link, "right")
    to_x, to_y = last.port(link, "left")
    return (x + _BEND + to_x) / 2, to_y


def _label_lines(link: Link) -> Iterator[str]:
    line = ""
    for word in link_words(link):
        if line and len(line) + len(word) > _LABEL_CHARACTERS:
            yield line
            line = ""
        line += f"{' · ' if line else ''}{word}"
    yield line


def _legend(scenario: Scenario, layout: Layout) -> Iterator[str]:
    words = "Rates and one-way delays."
    if any(is_half_duplex(link) for link in scenario.links.values()):
        words += " Dashed: half duplex, both ways share the channel."
    yield _text(24, layout.height + 10, words, "words", "start")


def _text(x: float, y: float, text: str, css: str, anchor: str, data: str = "") -> str:
    name = f' class="{css}"' if css else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text{name}{data} {place}>{escape(text)}</text>"

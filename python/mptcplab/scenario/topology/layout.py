"""Where the nodes and links of a topology go: columns from clients to servers.

Nodes stand in columns by their distance from the clients; the servers of the traffic in the last. A
link that passes columns takes a lane in each of them, so that it runs beside the nodes and not
through them (Sugiyama, Tagawa, Toda 1981: layers, dummy nodes, barycentre ordering).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from mptcplab.scenario.model import Scenario
from mptcplab.scenario.network import Network
from mptcplab.scenario.path_manager import clients

NODE_WIDTH, PORT_HEIGHT, HEADER_HEIGHT = 150.0, 46.0, 26.0
COLUMN_GAP, ROW_GAP, LANE_HEIGHT, MARGIN = 230.0, 44.0, 46.0, 24.0
_SWEEPS = 12


@dataclass
class Box:
    """A node, or the lane of a link that passes a column."""

    column: int
    node: str | None
    link: str | None = None
    left: list[str] = field(default_factory=list)
    """Links at its left side, from top to bottom."""
    right: list[str] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)
    """Links within the column."""
    y: float = 0.0

    @property
    def height(self) -> float:
        """From top to bottom."""
        if self.node is None:
            return LANE_HEIGHT
        ports = max(len(self.left), len(self.right), 1)
        return HEADER_HEIGHT + PORT_HEIGHT * ports

    @property
    def x(self) -> float:
        """The left side."""
        return MARGIN + self.column * (NODE_WIDTH + COLUMN_GAP)

    def port(self, link: str, side: str) -> tuple[float, float]:
        """Where a link meets the box's side, `left` or `right`."""
        x = self.x if side == "left" else self.x + NODE_WIDTH
        if self.node is None:
            return x, self.y + self.height / 2
        links = self.left if side == "left" else self.right
        return x, self.y + HEADER_HEIGHT + PORT_HEIGHT * (links.index(link) + 0.5)


@dataclass(frozen=True)
class Layout:
    """Boxes in place, and the boxes that each link joins from left to right."""

    boxes: list[Box]
    courses: dict[str, list[Box]]
    width: float
    height: float

    def beside(self, link: str) -> float:
        """Where a link within a column runs, beside others between the same two boxes."""
        first, last = self.courses[link][0], self.courses[link][-1]
        ends = {id(first), id(last)}
        same = [
            name for name, course in self.courses.items() if {id(course[0]), id(course[-1])} == ends
        ]
        return first.x + NODE_WIDTH * (same.index(link) + 1) / (len(same) + 1)


def lay_out(scenario: Scenario, network: Network) -> Layout:
    """Place every node and link."""
    column_of = _columns(scenario, network)
    nodes = {node: Box(column_of[node], node) for node in network.nodes}
    columns: list[list[Box]] = [[] for _ in range(max(column_of.values()) + 1)]
    for box in nodes.values():
        columns[box.column].append(box)
    courses: dict[str, list[Box]] = {}
    for name, ends in network.links.items():
        first, last = sorted((nodes[end.node] for end in ends), key=lambda box: box.column)
        lanes = [Box(column, None, name) for column in range(first.column + 1, last.column)]
        for lane in lanes:
            columns[lane.column].append(lane)
        courses[name] = [first, *lanes, last]
    _order(columns, courses)
    _attach(columns, courses)
    _place(columns, courses)
    boxes = [box for column in columns for box in column]
    top = min(box.y for box in boxes) - MARGIN
    for box in boxes:
        box.y -= top
    width = 2 * MARGIN + len(columns) * NODE_WIDTH + (len(columns) - 1) * COLUMN_GAP
    return Layout(boxes, courses, width, max(box.y + box.height for box in boxes) + MARGIN)


def _starts(scenario: Scenario) -> list[str]:
    """Hosts of the first column: clients that are no servers, or those of the first flow."""
    servers = {server for item in scenario.traffic for server in item.body.servers}
    pure = [node for node in scenario.hosts if node in clients(scenario) - servers]
    return pure or list(scenario.traffic[0].body.clients)


def _columns(scenario: Scenario, network: Network) -> dict[str, int]:
    starts = _starts(scenario)
    between = network.routers | network.switches
    distance = dict.fromkeys(starts, 0)
    waiting = deque(starts)
    while waiting:
        node = waiting.popleft()
        for end in network.ends_of(node):
            peer = network.peer(end)
            if peer is not None and peer.node not in distance:
                distance[peer.node] = distance[node] + 1
                if peer.node in between:
                    waiting.append(peer.node)
    last = max((distance.get(node, 1) for node in between), default=0) + 1
    return {
        node: distance.get(node, 1) if node in between else 0 if node in starts else last
        for node in network.nodes
    }


def _neighbours(box: Box, courses: dict[str, list[Box]]) -> list[Box]:
    """Boxes that links lead to from here in the columns beside, a box for each link."""
    found = []
    for course in courses.values():
        for a, b in pairwise(course):
            if a is box and b.column != box.column:
                found.append(b)
            if b is box and a.column != box.column:
                found.append(a)
    return found


def _order(columns: list[list[Box]], courses: dict[str, list[Box]]) -> None:
    """Order each column by the mean position of its neighbours, back and forth."""
    for sweep in range(_SWEEPS):
        position = {
            id(box): index - (len(column) - 1) / 2
            for column in columns
            for index, box in enumerate(column)
        }
        for column in columns if sweep % 2 == 0 else reversed(columns):
            mean: dict[int, float] = {}
            for box in column:
                around = [position[id(other)] for other in _neighbours(box, courses)]
                mean[id(box)] = sum(around) / len(around) if around else position[id(box)]
            column.sort(key=partial(_value_of, mean))
            for index, box in enumerate(column):
                position[id(box)] = index - (len(column) - 1) / 2


def _value_of(values: dict[int, float], box: Box) -> float:
    return values[id(box)]


def _attach(columns: list[list[Box]], courses: dict[str, list[Box]]) -> None:
    """Give each link its place at the sides of its boxes, in the order of what it leads to."""
    rank = {id(box): index for column in columns for index, box in enumerate(column)}
    for name, course in courses.items():
        for a, b in pairwise(course):
            if a.column == b.column:
                a.aside.append(name)
                b.aside.append(name)
            else:
                a.right.append(name)
                b.left.append(name)

    def leads_to(box: Box, step: int, link: str) -> int:
        course = courses[link]
        return rank[id(course[[id(other) for other in course].index(id(box)) + step])]

    for column in columns:
        for box in column:
            box.right.sort(key=partial(leads_to, box, 1))
            box.left.sort(key=partial(leads_to, box, -1))


def _place(columns: list[list[Box]], courses: dict[str, list[Box]]) -> None:
    """Pull each box to the height of its neighbours, and apart from those above and below."""
    for column in columns:
        _spread(column, [0.0] * len(column))
    for sweep in range(_SWEEPS):
        for column in columns if sweep % 2 else reversed(columns):
            wanted = []
            for box in column:
                around = [other.y + other.height / 2 for other in _neighbours(box, courses)] or [
                    box.y + box.height / 2
                ]
                wanted.append(sum(around) / len(around) - box.height / 2)
            _spread(column, wanted)


def _spread(column: list[Box], wanted: list[float]) -> None:
    """Place boxes as near to the wanted heights as their order and gaps allow."""
    for index, (box, y) in enumerate(zip(column, wanted, strict=True)):
        above = column[index - 1] if index else None
        box.y = y if above is None else max(y, above.y + above.height + ROW_GAP)
    drift = sum(box.y - y for box, y in zip(column, wanted, strict=True)) / len(column)
    for box in column:
        box.y -= drift

"""The lines of a session: what each word does, at the prompt and in a script alike."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mptcplab.cli.debug_difference import difference, flat, shortened
from mptcplab.cli.debug_rows import LINK, SUBFLOW, link_rows, packet_row, packets, subflow_rows
from mptcplab.debugger import DebugError, Session, Stop
from mptcplab.debugger.until import is_time
from mptcplab.scenario import ScenarioError, parse_value
from mptcplab.scenario.problem import did_you_mean


@dataclass(frozen=True)
class Table:
    """Rows of one kind."""

    name: str
    rows: Sequence[dict[str, Any]]
    columns: tuple[str, ...] = ()
    """Those that people see; all where empty."""

    def to_json(self) -> dict[str, Any]:
        """The rows for programs."""
        return {self.name: list(self.rows)}


@dataclass(frozen=True)
class Lines:
    """Text, or values with their names."""

    lines: Sequence[str]
    values: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The values for programs, or the text where there are none."""
        return self.values or {"lines": list(self.lines)}


Answer = Stop | Table | Lines
HELP = """\
run                      to the next break, or to the end of all traffic
run until WHAT           to a time (500 ms, +10 ms), or what follows below
step [WHAT] [N]          one event of the simulator, or to the next WHAT
back [N] [WHAT]          the same backwards: back, back 10, back 10 packets
back to TIME             to a time, earlier or later
back until WHAT          to the last place at which WHAT was met
break on WHAT            stop every run there; breaks shows them, clear N takes one back
show connections         a line a subflow, from the end that sends the data
show connection N        all of a connection; show subflow N M all of one subflow at both ends
show links, show link NAME, show host NAME, show routes HOST
show NAME                one value: show connections[0].server.reassembly_bytes
diff                     what has changed since the last stop
check CONDITION          fails where it does not hold: for scripts
do {EVENT}               an event as in a scenario: do {link: wifi, change: {rate: 5 Mbit/s}}
scheduler NAME at HOST   another scheduler from here on
drop [N] on LINK [back]  loses the next packets that are sent into a link; so do, with their fate,
                         delay [N] on LINK [back] by TIME, duplicate [N] on LINK [back],
                         reorder [N] on LINK [back] behind OTHERS, and
                         rewrite [N] on LINK [back]: CHANGE, CHANGE, …
save FILE                a script that repeats the session; FILE.yaml: the scenario with the events
quit
WHAT: packet, packet on LINK, packet at HOST, a decision (subflow opened, retransmission of
connection 0, …), or a condition: connections[0].subflows[1].cwnd_bytes < 6000
CHANGE: seq += 1000, window = 0, flags += FIN|PSH, dss.data_sequence -= 1, without mp_join,
add_addr.address = 10.0.9.9, payload[0] = ff00"""
_MOVES = (
    "run", "step", "back", "break", "clear", "do", "drop", "delay", "duplicate", "reorder",
    "rewrite", "scheduler",
)  # fmt: skip
"""Words whose lines a saved script has."""


class Interpreter:
    """A session and the lines that were carried out in it."""

    def __init__(self, session: Session, begin: str) -> None:
        """Of a session; `begin` is the command that opens one like it."""
        self.session = session
        self.has_ended = False
        self._begin = begin
        self._done: list[str] = []
        self._last = ""
        self._before = flat(session.state())
        self._words: dict[str, Callable[[str], Answer | None]] = {
            "run": self._run,
            "step": self._step,
            "back": self._back,
            "break": self._break,
            "breaks": self._breaks,
            "clear": self._clear,
            "show": self._show,
            "diff": self._diff,
            "check": self._check,
            "drop": self._drop,
            "delay": self._delay,
            "duplicate": self._duplicate,
            "reorder": self._reorder,
            "rewrite": self._rewrite,
            "do": self._do,
            "scheduler": self._scheduler,
            "save": self._save,
            "help": lambda _: Lines(HELP.splitlines()),
            "quit": self._quit,
        }

    def carry_out(self, line: str) -> Answer | None:
        """Carries out a line; an empty one does again what a step did last.

        Raises:
            DebugError: it cannot be carried out; says why.

        """
        plain = " ".join(line.partition("#")[0].split())
        if not plain:
            plain = self._last if not line.strip() else ""
        if not plain:
            return None
        word, _, rest = plain.partition(" ")
        if word not in self._words:
            raise DebugError(f"'{word}': {did_you_mean(word, list(self._words))}")
        begin = self.session.step_number
        try:
            answer = self._words[word](rest)
        except (KeyboardInterrupt, DebugError):
            if word in _MOVES and self.session.step_number > begin:
                self._done.append(f"step {self.session.step_number - begin}")
            raise
        if word in _MOVES:
            self._done.append(plain)
        self._last = plain if word in ("step", "back") else ""
        return answer

    def complete(self, text: str, place: int) -> str | None:
        """Completes the first word of a line, for readline."""
        found = [word for word in self._words if word.startswith(text)]
        return found[place] if place < len(found) else None

    def _moved(self, move: Callable[[], Stop]) -> Stop:
        before = flat(self.session.state())
        stop = move()
        self._before = before
        return stop

    def _run(self, rest: str) -> Stop:
        if not rest:
            return self._moved(self.session.run)
        until = _after("until", rest, "run until WHAT")
        stop = self._moved(lambda: self.session.run_until(until))
        if stop.reason == "end" and not is_time(until):
            raise DebugError(f"all traffic has ended before {until}")
        return stop

    def _step(self, rest: str) -> Stop:
        what, count = _counted(rest)
        return self._moved(lambda: self.session.step(what or "event", count))

    def _back(self, rest: str) -> Stop:
        if rest.startswith("to "):
            return self._moved(lambda: self.session.back_to(rest.removeprefix("to ")))
        if rest.startswith("until "):
            return self._moved(lambda: self.session.back_until(rest.removeprefix("until ")))
        what, count = _counted(rest)
        return self._moved(lambda: self.session.back(count, what or "event"))

    def _break(self, rest: str) -> Lines:
        self.session.break_on(_after("on", rest, "break on WHAT"))
        return self._breaks("")

    def _breaks(self, rest: str) -> Lines:
        _nothing(rest)
        breaks = self.session.breaks
        return Lines([f"{n}: {one}" for n, one in enumerate(breaks)], {"breaks": list(breaks)})

    def _clear(self, rest: str) -> Lines:
        self.session.clear(_number(rest, "clear N"))
        return self._breaks("")

    def _diff(self, rest: str) -> Lines:
        _nothing(rest)
        changes = difference(self._before, flat(self.session.state()))
        lines = [f"{name}: {_said(a)} → {_said(b)}" for name, (a, b) in shortened(changes).items()]
        return Lines(lines, {"changes": {name: list(pair) for name, pair in changes.items()}})

    def _check(self, rest: str) -> None:
        if not self.session.holds(rest):
            left = re.split(r"[<>=!]", rest, maxsplit=1)[0].strip()
            value = self.session.value(left)
            raise DebugError(f"{rest} does not hold: {left} is {_said(value)}")

    def _drop(self, rest: str) -> Lines:
        packets, link, back, _ = _packets_of(rest, r"", "drop 3 on LINK, or drop on LINK back")
        self.session.drop(link, back, packets)
        return self._interfered(link, back, packets, "will be lost")

    def _delay(self, rest: str) -> Lines:
        form = "delay on LINK by 50 ms, or delay 3 on LINK back by 50 ms"
        packets, link, back, by = _packets_of(rest, r" by (.+)", form)
        self.session.delay(link, by, back, packets)
        return self._interfered(link, back, packets, f"will come {by} later")

    def _duplicate(self, rest: str) -> Lines:
        form = "duplicate 3 on LINK, or duplicate on LINK back"
        packets, link, back, _ = _packets_of(rest, r"", form)
        self.session.duplicate(link, back, packets)
        return self._interfered(link, back, packets, "will come twice")

    def _reorder(self, rest: str) -> Lines:
        form = "reorder on LINK behind 3, or reorder 2 on LINK back behind 3"
        packets, link, back, others = _packets_of(rest, r" behind (\d{1,6})", form)
        self.session.reorder(link, int(others), back, packets)
        return self._interfered(link, back, packets, f"will come behind {others} others")

    def _rewrite(self, rest: str) -> Lines:
        form = "rewrite on LINK: seq += 1000, or rewrite 2 on LINK back: without dss, window = 0"
        where, colon, changes = rest.partition(":")
        packets, link, back, _ = _packets_of(where if colon else "", r"", form)
        self.session.rewrite(link, *changes.split(","), direction=back, packets=packets)
        return self._interfered(
            link, back, packets, f"that have all of it will be changed:{changes}"
        )

    def _interfered(self, link: str, direction: int, packets: int, fate: str) -> Lines:
        source = self.session.links[link].directions[direction].from_interface
        told = {"link": link, "direction": direction, "packets": packets, "fate": fate}
        return Lines([f"the next {packets} from {source} into {link} {fate}"], told)

    def _do(self, rest: str) -> Lines:
        try:
            event = parse_value(rest, "do")
            if not isinstance(event, dict):
                raise DebugError("write do {link: wifi, up: false}, say")
            self.session.do(event)
        except ScenarioError as error:
            raise DebugError(str(error)) from None
        return Lines([f"{self.session.now_ns / 1e9:.9f} s: {rest}"], {"done": event})

    def _scheduler(self, rest: str) -> Lines:
        found = re.fullmatch(r"(\S+) at (\S+)", rest)
        if found is None:
            raise DebugError("write scheduler NAME at HOST")
        self.session.use_scheduler(found[2], found[1])
        return Lines([f"{found[2]} uses {found[1]} from here on"], {"scheduler": found[1]})

    def _save(self, rest: str) -> Lines:
        if not rest:
            raise DebugError("write save FILE")
        script = "\n".join([f"# {self._begin} --script {rest}", *self._done]) + "\n"
        is_scenario = rest.endswith((".yaml", ".yml"))
        try:
            Path(rest).write_text(
                self.session.scenario_text() if is_scenario else script, encoding="utf-8"
            )
        except OSError as error:
            raise DebugError(f"{rest}: cannot be written: {error.strerror}") from None
        what = "the scenario" if is_scenario else f"{len(self._done)} lines"
        return Lines([f"saved {what} in {rest}"], {"saved": rest})

    def _quit(self, rest: str) -> None:
        _nothing(rest)
        self.has_ended = True

    def _show(self, rest: str) -> Answer:
        word, _, name = rest.partition(" ")
        session = self.session
        state = session.state
        match word:
            case "connections":
                return Table("connections", subflow_rows(state()["connections"]), SUBFLOW)
            case "links":
                return Table("links", link_rows(state()["links"]), LINK)
            case "breaks":
                return self._breaks(name)
            case "connection":
                number = _number(name, "show connection N")
                connection = _at(state()["connections"], number, "connection")
                return _whole(connection, f"connections[{number}]")
            case "subflow":
                return self._show_subflow(name)
            case "link":
                return Table(name, [packet_row(one) for one in packets(session, name)])
            case "host":
                return _whole(_of_name(state()["hosts"], name, "host"), f"hosts[{name}]")
            case "routes":
                return Table("routes", _of_name(state()["hosts"], name, "host")["routes"])
        if not rest:
            raise DebugError("show connections, links, breaks, connection N, link NAME, … (help)")
        value = session.value(rest)
        return Lines([f"{rest} = {_said(value)}"], {"name": rest, "value": value})

    def _show_subflow(self, rest: str) -> Answer:
        found = re.fullmatch(r"(\d{1,9}) (\d{1,9})", rest)
        if found is None:
            raise DebugError("write show subflow CONNECTION SUBFLOW, by number")
        connection = _at(self.session.state()["connections"], int(found[1]), "connection")
        number, ends = int(found[2]), {}
        for end in ("client", "server"):
            subflows = (connection[end] or {}).get("subflows", [])
            ends[end] = subflows[number] if number < len(subflows) else None
        if not any(ends.values()):
            raise DebugError(f"connection {found[1]} has no subflow {number} now")
        values = {
            f"connections[{found[1]}].{end}.subflows[{number}].{name}": value
            for end, subflow in ends.items()
            for name, value in flat(subflow or {}).items()
        }
        return Lines([f"{name} = {_said(value)}" for name, value in values.items()], ends)


def _after(word: str, rest: str, form: str) -> str:
    first, _, what = rest.partition(" ")
    if first != word or not what:
        raise DebugError(f"write {form}")
    return what


def _packets_of(rest: str, more: str, form: str) -> tuple[int, str, int, str]:
    """How many packets, on which link, in which direction, and what follows."""
    found = re.fullmatch(rf"(?:(\d{{1,6}}) )?on (\S+)( back)?{more}", rest)
    if found is None:
        raise DebugError(f"write {form}")
    return int(found[1] or 1), found[2], int(found[3] is not None), "".join(found.groups()[3:])


def _nothing(rest: str) -> None:
    if rest:
        raise DebugError(f"'{rest}' has no meaning there")


def _number(text: str, form: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text):
        raise DebugError(f"write {form}, by number")
    return int(text)


def _counted(rest: str) -> tuple[str, int]:
    """The thing to go to, and how often: `10 packets`, `packet 10`, `packet`, `10`."""
    first = re.fullmatch(r"(\d{1,9})(?: (.+))?", rest)
    if first is not None:
        what = first[2] or ""
        return re.sub(r"^packets\b", "packet", re.sub(r"^events$", "", what)), int(first[1])
    last = re.fullmatch(r"(.*\D) (\d{1,9})", rest)
    if last is not None and last[1].split()[-1] not in ("connection", "==", "<", ">", "<=", ">="):
        return last[1], int(last[2])
    return rest, 1


def _said(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else json.dumps(value)


def _at(things: Sequence[Any], number: int, kind: str) -> Any:
    if number >= len(things):
        raise DebugError(f"there is no {kind} {number}: there are {len(things)}")
    return things[number]


def _of_name(things: dict[str, Any], name: str, kind: str) -> Any:
    if name not in things:
        raise DebugError(f"there is no {kind} '{name}': {did_you_mean(name, list(things))}")
    return things[name]


def _whole(thing: Any, begin: str) -> Lines:
    lines = [f"{name} = {_said(value)}" for name, value in flat(thing, begin).items()]
    return Lines(lines, {"state": thing})

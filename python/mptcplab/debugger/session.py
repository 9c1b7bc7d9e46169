"""Sessions: a simulated run that is stopped, stepped, looked into and turned back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mptcplab._native import DebugSession, DebugSessionError
from mptcplab.debugger.events import Done, actions, text
from mptcplab.debugger.problem import DebugError
from mptcplab.debugger.rewrite import parse_edit
from mptcplab.debugger.state import Connection, Host, Link
from mptcplab.debugger.stop import Stop
from mptcplab.debugger.until import (
    Until,
    duration_ns,
    parse_condition,
    parse_path,
    parse_until,
)
from mptcplab.debugger.views import Connections, Named
from mptcplab.plan import Plan
from mptcplab.scenario import Scenario


class Session:
    """A run in virtual time that stands still.

    It stops between two events of the simulator, and goes to any event of its past by copies of
    the world and by doing again what followed. Strings say what it runs to: a time
    (`"500 ms"`, `"+10 ms"` from now), `"packet"`, `"packet on wifi"`, `"packet at server"`, a
    decision (`"subflow opened"`, `"retransmission of connection 0"`), or a condition on the state
    (`"connections[0].subflows[1].cwnd_bytes < 6000"`).
    """

    def __init__(self, core: DebugSession, plan: Plan, scenario: Scenario, variant: str) -> None:
        """Of a world, its plan, and the scenario behind it; `opened` makes it."""
        self._core = core
        self._plan = plan
        self._variant = variant
        self._breaks: list[Until] = []
        self._scenario = scenario
        self._events: list[Done] = []

    @classmethod
    def opened(cls, plan: Plan, scenario: Scenario, variant: str) -> Session:
        """A session of a plan at time 0, which the scenario has for the variant.

        Raises:
            DebugError: the plan cannot be simulated, or needs what cannot be copied.

        """
        if plan.controller is not None and plan.controller.policy_source is not None:
            raise DebugError(
                f"{scenario.name}: its policy is a function of Python, whose memory cannot be "
                "copied: debug it with one of the controller's own policies"
            )
        with _told():
            core = DebugSession(plan.model_dump_json())
        return cls(core, plan, scenario, variant)

    @property
    def now_ns(self) -> int:
        """The time."""
        return self._core.position[0]

    @property
    def step_number(self) -> int:
        """Events of the simulator so far."""
        return self._core.position[1]

    @property
    def has_ended(self) -> bool:
        """Whether all traffic has ended."""
        return self._core.has_ended

    @property
    def connections(self) -> Sequence[Connection]:
        """The connections in the order of opening, as they are now."""
        return Connections(self._core)

    @property
    def links(self) -> Mapping[str, Link]:
        """The links by name, as they are now."""
        names = [link.name for link in self._plan.links]
        return Named("link", names, lambda number: Link.read(json.loads(self._core.link(number))))

    @property
    def hosts(self) -> Mapping[str, Host]:
        """The hosts, routers and switches by name, as they are now."""
        names = [node.name for node in self._plan.nodes]
        return Named("host", names, lambda number: Host.read(json.loads(self._core.node(number))))

    @property
    def breaks(self) -> tuple[str, ...]:
        """All that every run stops at."""
        return tuple(one.text for one in self._breaks)

    def break_on(self, what: str) -> None:
        """Stops every run from now on at packets, a decision, or a condition that comes to hold.

        Raises:
            DebugError: it cannot be read, or names something that there is not.

        """
        until = parse_until(what, self.now_ns)
        if until.stop is None:
            raise DebugError(f'"{what}" is a time: run_until stops there')
        with _told():
            self._core.check(json.dumps([until.stop]))
        self._breaks.append(until)

    def clear(self, number: int) -> None:
        """Takes back what was asked for by `break_on`, counted from 0.

        Raises:
            DebugError: there is none of this number.

        """
        if not 0 <= number < len(self._breaks):
            raise DebugError(f"there is no break {number}: there are {len(self._breaks)}")
        del self._breaks[number]

    def run(self) -> Stop:
        """Runs to the next break, or to the end of all traffic."""
        return self._run([], None)

    def run_until(self, until: str | int) -> Stop:
        """Runs to a time, packets, a decision or a condition, or to a break before.

        A number is a time in nanoseconds. A condition that holds already stops at once.

        Raises:
            DebugError: it cannot be read, or names something that there is not.

        """
        if isinstance(until, int):
            return self._run([], until)
        asked = parse_until(until, self.now_ns)
        if asked.time_ns is not None:
            return self._run([], asked.time_ns)
        if asked.stop is not None and "condition" in asked.stop and self.holds(asked.text):
            now_ns, step = self._core.position
            return Stop("condition", now_ns, step, asked.text, None, ())
        return self._run([asked], None)

    def step(self, what: str = "event", count: int = 1) -> Stop:
        """Goes on by one event of the simulator, or to the next `what`, so many times.

        Raises:
            DebugError: `what` cannot be read; the traffic ended before.

        """
        if count < 1:
            raise DebugError(f"{count} steps: give 1 or more")
        if what == "event":
            self._core.skip(count - 1)
            return Stop.read(self._core.step(), [])
        asked = self._stop(what)
        for _ in range(count):
            stop = self._run([asked], None, breaks=False)
            if stop.reason == "end":
                raise DebugError(f"all traffic has ended before {asked.text}")
        return stop

    def back(self, count: int = 1, what: str = "event") -> Stop:
        """Goes back by events of the simulator, or to where `what` was so many times before.

        Raises:
            DebugError: there were not so many; the session stays where it is.

        """
        if count < 1:
            raise DebugError(f"{count} back: give 1 or more")
        with _told():
            if what != "event":
                asked = self._stop(what)
                return Stop.read(
                    self._core.back_until(json.dumps([asked.stop]), count), [asked.text]
                )
            self._core.back(count)
        return self._here()

    def back_to(self, time: str | int) -> Stop:
        """Goes to a time, earlier or later; a number is in nanoseconds.

        Raises:
            DebugError: it is no time.

        """
        if isinstance(time, str):
            until = parse_until(time, self.now_ns)
            if until.time_ns is None:
                raise DebugError(f'"{time}" is no time: write "500 ms", say')
            time = until.time_ns
        self._core.go_to_time(time)
        return self._here()

    def back_until(self, what: str) -> Stop:
        """Goes back to the last place at which `what` was met.

        Raises:
            DebugError: there is none; the session stays where it is.

        """
        return self.back(1, what)

    def branch(self) -> Session:
        """Another session that stands at the same place; from here each goes its own way."""
        other = Session(self._core.branch(), self._plan, self._scenario, self._variant)
        other._breaks, other._events = list(self._breaks), list(self._events)
        return other

    def do(self, event: Mapping[str, Any]) -> None:
        """Lets an event happen now, as `events:` of a scenario have it, without `at`.

        A link: `{"link": "wifi", "change": {"rate": "5 Mbit/s"}}`, or `{"link": "wifi", "up":
        False}`; a cable (`carrier`), an interface, a subflow of the application's. What came after
        this moment before is forgotten.

        Raises:
            ScenarioError: it is no event of this scenario.
            DebugError: the network refuses it.

        """
        self._events = [one for one in self._events if one.at_ns <= self.now_ns]
        done = Done(self.now_ns, dict(event))
        with _told():
            for action in actions(self._scenario, self._variant, self._events, done):
                self._core.change(json.dumps({"action": json.loads(action.model_dump_json())}))
        self._events.append(done)

    def drop(self, link: str, direction: int = 0, packets: int = 1) -> None:
        """Loses the next packets that are sent into a link in a direction.

        Raises:
            DebugError: there is no such link or direction.

        """
        self._interfere(link, direction, packets, "lost")

    def delay(self, link: str, by: str | int, direction: int = 0, packets: int = 1) -> None:
        """Holds the next packets that are sent into a link back, each by a time.

        Those that are sent meanwhile overtake them; a number is in nanoseconds.

        Raises:
            DebugError: there is no such link or direction; `by` is no time.

        """
        self._interfere(link, direction, packets, {"delayed_ns": duration_ns(by)})

    def duplicate(self, link: str, direction: int = 0, packets: int = 1) -> None:
        """Sends each of the next packets into a link twice.

        Raises:
            DebugError: there is no such link or direction.

        """
        self._interfere(link, direction, packets, "duplicated")

    def reorder(self, link: str, behind: int, direction: int = 0, packets: int = 1) -> None:
        """Holds the next packets into a link back, each until so many others have passed it.

        Others are those that are sent into the link in the same direction afterwards.

        Raises:
            DebugError: there is no such link or direction; `behind` is less than 1.

        """
        if behind < 1:
            raise DebugError(f"behind {behind} others: give 1 or more")
        self._interfere(link, direction, packets, {"behind": behind})

    def rewrite(self, link: str, *changes: str, direction: int = 0, packets: int = 1) -> None:
        """Changes the next packets into a link: of TCP, and with all that the changes name.

        Changes are `"seq += 1000"`, `"window = 0"`, `"flags += FIN|PSH"`, `"without mp_join"`,
        `"dss.data_sequence -= 1"`, `"add_addr.address = 10.0.9.9"`, `"payload[0] = ff00"`; numbers
        are as in the packet. Its lengths and checksums of IP and TCP are right again afterwards,
        and DSS checksums stay.

        Raises:
            DebugError: there is no such link, direction or field; a change cannot be read.

        """
        edits = [parse_edit(change) for change in changes]
        self._interfere(link, direction, packets, {"rewritten": edits})

    def _interfere(self, link: str, direction: int, packets: int, fate: Any) -> None:
        told = {"link": link, "direction": direction, "packets": packets, "fate": fate}
        with _told():
            self._core.change(json.dumps({"packets": told}))

    def use_scheduler(self, host: str, name: str) -> None:
        """Lets a host use another scheduler from now on; the names are those of scenarios.

        Raises:
            DebugError: there is no such host or scheduler.

        """
        with _told():
            self._core.change(json.dumps({"scheduler": {"host": host, "name": name}}))

    def holds(self, condition: str) -> bool:
        """Whether a condition holds now.

        Raises:
            DebugError: it cannot be read, or names something that there is not.

        """
        with _told():
            return self._core.holds(json.dumps(parse_condition(condition)))

    def value(self, name: str) -> Any:
        """The value of a name now, such as `connections[0].server.reassembly_bytes`.

        Raises:
            DebugError: the name means nothing.

        """
        with _told():
            return json.loads(self._core.value(json.dumps(parse_path(name))))

    def scenario_text(self) -> str:
        """The scenario as YAML, with the events that have happened by `do` up to now among its own.

        What was done to single packets, as by `drop`, is not among them.
        """
        return text(self._scenario, [one for one in self._events if one.at_ns <= self.now_ns])

    def state(self) -> dict[str, Any]:
        """All state of connections, links and hosts, as JSON has it."""
        return {
            "now_ns": self.now_ns,
            "connections": [
                json.loads(self._core.connection(number) or "null")
                for number in range(self._core.connection_count)
            ],
            "links": {
                link.name: json.loads(self._core.link(number))
                for number, link in enumerate(self._plan.links)
            },
            "hosts": {
                node.name: json.loads(self._core.node(number))
                for number, node in enumerate(self._plan.nodes)
            },
        }

    def _stop(self, what: str) -> Until:
        asked = parse_until(what, self.now_ns)
        if asked.stop is None:
            raise DebugError(f'"{what}" is a time: use run_until or back_to')
        return asked

    def _run(self, asked: list[Until], until_ns: int | None, *, breaks: bool = True) -> Stop:
        if until_ns is not None and until_ns < self.now_ns:
            raise DebugError(f"{until_ns} ns has passed: back_to goes there")
        every = asked + (self._breaks if breaks else [])
        with _told():
            told = self._core.run(json.dumps([one.stop for one in every]), until_ns)
        return Stop.read(told, [one.text for one in every])

    def _here(self) -> Stop:
        now_ns, step = self._core.position
        return Stop("step", now_ns, step, None, None, ())


@contextmanager
def _told() -> Iterator[None]:
    """Turns what the simulator refuses into a `DebugError`."""
    try:
        yield
    except DebugSessionError as error:
        raise DebugError(str(error)) from None

"""Possible causes, as a recording shows them by the protocol's own rules.

Every candidate says what it was seen by, and how the scenario is without it; what it costs is then
measured in the simulator. No threshold here was fitted to cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from statistics import fmean

from mptcplab.explanation.account import (
    APPLICATION,
    NOT_JOINED,
    RECEIVE_WINDOW,
    SEND_BUFFER,
    WAITING,
    Account,
)
from mptcplab.explanation.changes import Changes
from mptcplab.explanation.observed import Connection, Observed, PathLink, Subflow, increase
from mptcplab.explanation.told import Change
from mptcplab.plan.link import RandomLoss
from mptcplab.scenario.network import End

NOTICEABLE = 0.05
"""Part of the time, or of the goodput, below which a cause is none: the 95 % that statistics of
runs tell apart, and what headers and the start of a transfer take."""
_ROUND_TRIPS_OF_A_JOIN = 3
"""SYN, SYN/ACK and ACK of the join, after an announcement and its echo."""
_INTERACTIVE_DELAY_S = 0.1
"""A queue that adds more is felt: CoDel's interval (RFC 8289, section 4.3)."""
_ROUND_TRIPS_IN_BUFFERS = 2
"""Data on its way, and data that comes while a loss is repaired (RFC 6182, section 5.3)."""
_MEMORY_PER_PAYLOAD = 2
"""Memory that a full segment takes at most, over its payload."""
_COUPLED = frozenset({"lia", "olia", "balia", "wvegas"})
_HARMFUL = frozenset(
    {"strip_options", "drop_unknown_options", "change_payload", "proxy_ack", "split", "coalesce"}
)
"""Kinds of middleboxes that MPTCP cannot pass, or not with all that it has."""


@dataclass(frozen=True)
class Candidate:
    """A cause that is possible."""

    name: str
    path: str | None
    evidence: Sequence[str]
    without: Change | None
    """The scenario without it; null where the scenario has no key for that."""
    harms_others: bool = False
    """Whether other flows pay for it."""
    cost_s: float | None = None
    """Where it costs delay: how much of it on average."""
    factor: float = 1.0
    """By how much it makes the round trip longer."""
    unused_mbps: float | None = None
    """Of the rates of links, what it left unused; null where no path is missing or none known."""
    is_seen: bool = True
    """Whether the recording itself shows it at work; what does not is told where trials show it."""

    @property
    def is_removable(self) -> bool:
        """Whether a scenario without it is the better one for MPTCP, whatever else it has.

        A slow path left out is no such scenario, and coupled control is better for others.
        """
        return self.name != "head_of_line_blocking" and not self.harms_others

    @property
    def is_single_path(self) -> bool:
        """Whether the connection had one path by it for all of its life."""
        return self.name in ("fallback", "join_refused", "no_join")


def candidates(observed: Observed, account: Account, changes: Changes) -> list[Candidate]:
    """Every candidate of a connection."""
    found = _Finder(observed, account, changes)
    return [
        *found.single_path(),
        *found.late(),
        *found.backups(),
        *found.send_buffer(),
        *found.receive_buffer(),
        *found.head_of_line(),
        *found.losses(),
        *found.shared_bottleneck(),
        *found.bufferbloat(),
        *found.application(),
    ]


class _Finder:
    def __init__(self, observed: Observed, account: Account, changes: Changes) -> None:
        self.observed = observed
        self.account = account
        self.connection: Connection = account.connection
        self.changes = changes
        links = {path: observed.path_link(self.connection, path) for path in self.connection.paths}
        self.links: dict[str, PathLink] = {path: link for path, link in links.items() if link}
        self.round_trips_s: dict[str, float] = {}
        for one in self.connection.subflows:
            known = [row["min_rtt_us"] / 1e6 for row in one.samples if row["min_rtt_us"]]
            if known:
                least = min(known)
                self.round_trips_s[one.path] = min(least, self.round_trips_s.get(one.path, least))
        self.used = [path for path in self.connection.paths if path in self.round_trips_s]

    def single_path(self) -> Iterator[Candidate]:
        """No subflow where there could be one."""
        transfer = self.connection.transfer
        if transfer["fallback"]:
            link = self._harmful_link(self.connection.paths)
            evidence = ["the connection fell back to TCP"]
            if link:
                evidence.append(f"link {link} has {self._middleboxes(link)}")
            without = self.changes.without_middleboxes(link) if link else None
            path = self._path_of(link) or (self.used[0] if self.used else None)
            others = [one for one in self.connection.paths if one != path]
            unused = self._unused_mbps(others)
            yield Candidate("fallback", path, evidence, without, unused_mbps=unused)
            return
        joined = {one.path for one in self.connection.subflows}
        missing = [
            path for path in self.connection.paths if path not in joined and self._could_join(path)
        ]
        if not missing or not self.used:
            return
        evidence = [f"no subflow over {', '.join(missing)} in {self.account.duration_ns / 1e9:g} s"]
        client, server = self.connection.client, str(self.connection.transfer["server"])
        routed = [path for path in missing if self.changes.leads_to(End(client, path), server)]
        if not routed:
            if len(self.used) == 1:
                evidence.append(f"no route leads over {', '.join(missing)} to {server}")
                yield Candidate("no_join", missing[0], evidence, None)
            return
        missing = routed
        link = self._harmful_link(missing) or self._harmful_link(self.used)
        unused = self._unused_mbps(missing)
        if link:
            evidence.append(f"link {link} has {self._middleboxes(link)}")
            without = self.changes.without_middleboxes(link)
            yield Candidate("join_refused", missing[0], evidence, without, unused_mbps=unused)
        elif self._is_delayed(missing[0]):
            without = self.changes.without_address_delay(missing[0])
            yield Candidate("late_subflow", missing[0], evidence, without, unused_mbps=unused)
        else:
            expected = self.observed.view.expected_joins(self.connection.transfer["traffic"])
            evidence.append(f"the path managers of both ends ask for {expected} more subflows")
            without = self.changes.path_manager()
            yield Candidate("no_join", missing[0], evidence, without, unused_mbps=unused)

    def late(self) -> Iterator[Candidate]:
        """A subflow that joined long after the connection could have had it."""
        first_of = {
            # The first of a path's subflows: more of them may come at any time.
            path: min(one.samples[0]["t_ns"] for one in self._subflows_of(path))
            for path in self.used
        }
        for path, first_ns in first_of.items():
            if first_ns == min(first_of.values()):
                # It began the connection.
                continue
            after_s = (first_ns - self.connection.start_ns) / 1e9
            interval_s = self.observed.plan.sample_interval_ns / 1e9
            usual_s = _ROUND_TRIPS_OF_A_JOIN * max(self.round_trips_s.values()) + 2 * interval_s
            share = self.account.share_of(path, NOT_JOINED)
            if after_s > usual_s and share >= NOTICEABLE:
                evidence = [f"joined after {after_s:.1f} s of {self.account.duration_ns / 1e9:g} s"]
                without = None
                if self._is_delayed(path):
                    without = self.changes.without_address_delay(path)
                rate = self._unused_mbps([path])
                unused = None if rate is None else rate * share
                yield Candidate("late_subflow", path, evidence, without, unused_mbps=unused)

    def _subflows_of(self, path: str) -> Sequence[Subflow]:
        return [one for one in self.connection.subflows if one.path == path and one.samples]

    def backups(self) -> Iterator[Candidate]:
        """A path that stands by as a backup."""
        for one in self.connection.subflows:
            is_backup = [row["backup"] for row in one.samples if row["backup"] is not None]
            sent = increase(one.samples, "bytes_sent")
            total = sum(increase(other.samples, "bytes_sent") for other in self.connection.subflows)
            if is_backup and all(is_backup) and sent < NOTICEABLE * total:
                evidence = [f"a backup all the time, {sent / 1e6:.1f} of {total / 1e6:.1f} MB"]
                without = self.changes.backup(one.path, backup=False)
                yield Candidate("backup", one.path, evidence, without)

    def send_buffer(self) -> Iterator[Candidate]:
        """A send buffer that does not hold what all paths together have on their way."""
        share = self.account.share(SEND_BUFFER, WAITING)
        held = [row["snd_buf"] for row in self.connection.samples if row["snd_buf"]]
        needed = self._needed_bytes()
        if share < NOTICEABLE or not held or needed is None or fmean(held) >= needed:
            return
        evidence = [
            f"{_kb(fmean(held))} on average, where two round trips of the slowest path at the "
            f"rates of all are {_kb(needed)}",
            f"limited by it for {share:.0%} of the time",
        ]
        roomy = self.changes.send_buffer(self.connection.sender, _MEMORY_PER_PAYLOAD * needed)
        yield Candidate("send_buffer_too_small", None, evidence, roomy)

    def receive_buffer(self) -> Iterator[Candidate]:
        """A receive buffer whose window is less than that."""
        windows = [
            row["snd_wnd"]
            for one in self.connection.subflows
            for row in one.samples
            if row["snd_wnd"]
        ]
        share = max(
            [self.account.share(RECEIVE_WINDOW)]
            + [self.account.share_of(path, RECEIVE_WINDOW) for path in self.used]
        )
        needed = self._needed_bytes()
        if share < NOTICEABLE or not windows or needed is None or max(windows) >= needed:
            return
        evidence = [
            f"a window of {_kb(max(windows))} at most, where two round trips of the slowest path "
            f"at the rates of all are {_kb(needed)}",
            f"limited by it for {share:.0%} of the time",
        ]
        receiver = self.connection.receiver
        roomy = self.changes.receive_buffer(receiver, _MEMORY_PER_PAYLOAD * needed)
        yield Candidate("receive_buffer_too_small", None, evidence, roomy)

    def head_of_line(self) -> Iterator[Candidate]:
        """A path whose data the others' waits for."""
        if len(self.used) < 2:
            return
        slowest = max(self.used, key=lambda path: self.round_trips_s[path])
        fastest = min(self.round_trips_s.values())
        waited_ns = self.account.waited_for_ns.get(slowest, 0)
        if self.round_trips_s[slowest] < 2 * fastest:
            return
        evidence = [
            f"a round trip of {self.round_trips_s[slowest] * 1e3:.0f} ms beside "
            f"{fastest * 1e3:.0f} ms",
            f"waited for its data for {waited_ns / 1e9:.1f} s",
        ]
        without = self.changes.backup(slowest, backup=True)
        is_seen = self.account.duration_ns * NOTICEABLE <= waited_ns
        yield Candidate("head_of_line_blocking", slowest, evidence, without, is_seen=is_seen)

    def losses(self) -> Iterator[Candidate]:
        """Loss by chance, which congestion control takes for congestion."""
        for path in self.used:
            link = self.links.get(path)
            if link is None:
                continue
            lost = increase(link.samples, "dropped_loss")
            offered = increase(link.samples, "offered_packets")
            if lost and offered:
                evidence = [f"{lost} of {offered} packets lost by chance ({lost / offered:.2%})"]
                if isinstance(link.direction.loss, RandomLoss) and link.rate_bps:
                    evidence.append(f"its rate is {link.rate_bps / 1e6:g} Mbit/s")
                without = self.changes.without_loss(link.link.name)
                yield Candidate("loss", path, evidence, without)

    def shared_bottleneck(self) -> Iterator[Candidate]:
        """Several subflows that each take a flow's share of one queue."""
        traffic = self.connection.transfer["traffic"]
        planned = next(one for one in self.observed.plan.traffic if one.name == traffic)
        is_client = self.connection.sender == self.connection.client
        control = planned.congestion_control if is_client else planned.server_congestion_control
        if control in _COUPLED or len(self.used) < 2 or not self.observed.others:
            return
        ways = [self._links_of(path) for path in self.used]
        for link, full in self._full_links():
            sharing = sum(way is None or link in way for way in ways)
            if sharing < 2:
                continue
            evidence = [
                f"{sharing} subflows and {len(self.observed.others)} flows of others over "
                f"{link}, which was full for {full:.0%} of the time",
                f"{control} does not couple them",
            ]
            coupled = self.changes.congestion_control(self.connection.sender, "olia")
            yield Candidate(
                "uncoupled_at_shared_bottleneck", None, evidence, coupled, harms_others=True
            )

    def bufferbloat(self) -> Iterator[Candidate]:
        """A queue of more than a bandwidth-delay product that stands full."""
        for one in self.connection.subflows:
            known = [row["rtt_us"] / 1e6 for row in one.samples if row["rtt_us"]]
            least = self.round_trips_s.get(one.path)
            if not known or least is None or one.path not in self.links:
                continue
            excess_s = fmean(known) - 2 * least
            if excess_s < _INTERACTIVE_DELAY_S:
                continue
            evidence = [
                f"a round trip of {fmean(known) * 1e3:.0f} ms on average, {least * 1e3:.0f} ms "
                "at least",
                "a queue of one bandwidth-delay product doubles it at most",
            ]
            without = self.changes.short_queue(self.links[one.path].link.name)
            factor = fmean(known) / (2 * least)
            yield Candidate(
                "bufferbloat", one.path, evidence, without, cost_s=excess_s, factor=factor
            )

    def application(self) -> Iterator[Candidate]:
        """An application that offers less than the paths take."""
        share = self.account.share(APPLICATION)
        idle = [self.account.share_of(path, APPLICATION) for path in self.used]
        if not idle or min(idle) < NOTICEABLE:
            return
        without = self.changes.unlimited_application()
        if without is not None:
            evidence = [
                f"nothing to send for {share:.0%} of the time, on the busiest path for "
                f"{min(idle):.0%}"
            ]
            yield Candidate("application_limited", None, evidence, without)

    def _needed_bytes(self) -> int | None:
        """2 · Σ rate · the longest round trip (RFC 6182); null where a rate is not known."""
        rates = [self.links[path].rate_bps if path in self.links else None for path in self.used]
        known = [rate for rate in rates if rate is not None]
        if not known or len(known) < len(rates):
            return None
        longest_s: float = max(self.round_trips_s.values())
        return round(_ROUND_TRIPS_IN_BUFFERS * sum(known) / 8 * longest_s)

    def _unused_mbps(self, paths: Sequence[str]) -> float | None:
        """The rates of the links of paths that carried nothing; null where one is not known."""
        rates = [self.links[path].rate_bps if path in self.links else None for path in paths]
        known = [rate for rate in rates if rate is not None]
        return sum(known) / 1e6 if known and len(known) == len(rates) else None

    def _harmful_link(self, paths: Sequence[str]) -> str | None:
        """The link of one of the paths with a middlebox that is in MPTCP's way."""
        for path in paths:
            link = self.links.get(path)
            if link and any(box.kind in _HARMFUL for box in link.link.middleboxes):
                return link.link.name
        return None

    def _middleboxes(self, link: str) -> str:
        found = next(one for one in self.observed.plan.links if one.name == link)
        kinds = [box.kind for box in found.middleboxes if box.kind in _HARMFUL]
        return f"the middlebox {', '.join(kind.replace('_', '-') for kind in kinds)}"

    def _path_of(self, link: str | None) -> str | None:
        return next((path for path, one in self.links.items() if one.link.name == link), None)

    def _could_join(self, path: str) -> bool:
        """Whether the connection lasted long enough for a join over this path."""
        link = self.links.get(path)
        if link is None:
            return False
        round_trip_ns = sum(one.delay_ns for one in link.link.config.directions)
        return self.account.duration_ns > _ROUND_TRIPS_OF_A_JOIN * round_trip_ns

    def _is_delayed(self, path: str) -> bool:
        return any(
            interface.address_delay_ns > 0
            for node in self.observed.plan.nodes
            for interface in node.interfaces
            if (node.name, interface.name) == (self.connection.client, path)
        )

    def _links_of(self, path: str) -> AbstractSet[str] | None:
        """The links that the subflows of a path cross; null where that is not known."""
        for one in self.connection.subflows:
            if one.path == path and one.server_interface is not None:
                server = str(self.connection.transfer["server"])
                end = End(server, one.server_interface)
                return self.changes.links_between(End(self.connection.client, path), end)
        return None

    def _full_links(self) -> Iterator[tuple[str, float]]:
        """Links behind those of the paths that had a queue most of the time, and for which part."""
        own = {link.link.name for link in self.links.values()}
        for (name, _), samples in sorted(self.observed.links.items()):
            rows = [
                row
                for row in samples
                if self.connection.start_ns <= row["t_ns"] <= self.connection.end_ns
            ]
            queued = [bool(row["queued_bytes"]) for row in rows]
            if name not in own and queued and fmean(queued) > 1 / 2:
                yield name, fmean(queued)


def _kb(size: float) -> str:
    return f"{size / 1e3:.0f} kB"

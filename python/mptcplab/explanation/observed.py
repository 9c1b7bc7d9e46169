"""Connections, their subflows by path, and links, as an explanation reads them of a recording.

A path is named by the client's interface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row, grouped
from mptcplab.metrics.transfers import own_transfers, payload_transfers, timed_transfers
from mptcplab.plan import Plan
from mptcplab.plan.link import DirectionConfig, FixedRate, Link
from mptcplab.recording import Recording, RecordingError
from mptcplab.recording.manifest import MANIFEST

_SUBFLOW = (
    "t_ns", "node", "token", "subflow", "backup", "bytes_sent", "bytes_acked",
    "bytes_retrans", "rtt_us", "min_rtt_us", "cwnd", "unacked", "snd_wnd", "busy_us",
    "rwnd_limited_us", "sndbuf_limited_us", "notsent_bytes", "snd_buf", "snd_queued", "final",
)  # fmt: skip
_CONNECTION = (
    "t_ns", "node", "token", "write_seq", "snd_una", "bytes_sent", "bytes_acked",
    "snd_buf", "snd_queued",
)  # fmt: skip
_LINK = ("t_ns", "link", "from", "rate_bps", "queued_bytes", "delivered_bytes", "offered_packets",
         "dropped_loss")  # fmt: skip


@dataclass(frozen=True)
class Subflow:
    """A subflow as the sender of the data sees it."""

    name: str
    """Its addresses."""
    path: str
    server_interface: str | None
    """Null where the address is none of the server's interfaces."""
    samples: Sequence[Row]
    """By time."""


@dataclass(frozen=True)
class Connection:
    """One transfer over MPTCP."""

    transfer: Row
    client: str
    sender: str
    start_ns: int
    end_ns: int
    subflows: Sequence[Subflow]
    samples: Sequence[Row]
    """Of the connection, at the sender, by time."""
    paths: Sequence[str]
    """The client's interfaces."""

    @property
    def receiver(self) -> str:
        """The other end."""
        return str(self.transfer["server" if self.sender == self.client else "client"])

    @cached_property
    def by_time(self) -> Mapping[int, Sequence[tuple[Subflow, Row]]]:
        """Time → the subflows that were sampled then."""
        found: dict[int, list[tuple[Subflow, Row]]] = {}
        for one in self.subflows:
            for row in one.samples:
                found.setdefault(row["t_ns"], []).append((one, row))
        return found


@dataclass(frozen=True)
class PathLink:
    """The link at the client's end of a path, in the direction of the data."""

    link: Link
    samples: Sequence[Row]
    direction: DirectionConfig

    @property
    def rate_bps(self) -> int | None:
        """Its rate; null where that is not fixed."""
        rate = self.direction.rate
        return rate.bits_per_second if isinstance(rate, FixedRate) else None


class Observed:
    """A recording, as far as explanations need it."""

    def __init__(self, recording: Recording) -> None:
        """Reads it.

        Raises:
            RecordingError: a table is missing or damaged.

        """
        view = PlanView(recording)
        file = recording.folder / MANIFEST
        if not recording.manifest.plan:
            raise RecordingError(f"{file}: has no plan: run the scenario again to explain it")
        self.recording = recording
        self.view = view
        self.plan = Plan.model_validate(recording.manifest.plan)
        rows = recording.rows("link_samples", _LINK)
        self.links = {key: _by_time(own) for key, own in grouped(rows, "link", "from").items()}
        """By name and the subject at which packets enter."""
        transfers = own_transfers(payload_transfers(timed_transfers(recording, view)))
        self.transfers = [row for row in transfers if row["until_ns"] is not None]
        self.own = [row for row in self.transfers if row["protocol"] == "mptcp"]
        self.others = [row for row in self.transfers if row["protocol"] != "mptcp"]
        hosts = {node.name for node in self.plan.nodes}
        for row in self.own:
            for column, known in (("traffic", view.flows), ("client", hosts), ("server", hosts)):
                if row[column] not in known:
                    raise RecordingError(
                        f"{file}: its plan has no {column} {row[column]!r}, which the table "
                        "transfers has: run the scenario again to explain it"
                    )
        samples = _Samples(recording)
        self.connections = [
            one
            for row in self.own
            for way in (("up", "down") if row["way"] == "both" else (row["way"],))
            if (one := self._connection(row, way, samples)) is not None
        ]

    def path_link(self, connection: Connection, path: str) -> PathLink | None:
        """The link of a path at the client; null where the plan has none."""
        for link in self.plan.links:
            for end, place in zip((0, 1), link.ends, strict=True):
                node = self.plan.nodes[place.node]
                name = node.interfaces[place.interface].name
                if (node.name, name) != (connection.client, path):
                    continue
                # Direction 0 goes from the first end to the second.
                number = end if connection.sender == connection.client else 1 - end
                source = link.ends[number]
                node = self.plan.nodes[source.node]
                subject = f"{node.name}.{node.interfaces[source.interface].name}"
                own = self.links.get((link.name, subject), ())
                return PathLink(link, own, link.config.directions[number])
        return None

    def _connection(self, row: Row, way: str, samples: _Samples) -> Connection | None:
        client = row["client"]
        sender = client if way == "up" else row["server"]
        source = row["source"]
        start_ns, end_ns = row["start_ns"], row["until_ns"]
        if source is None or start_ns is None or end_ns <= start_ns:
            return None
        tokens, own = samples.of(sender, source, start_ns, end_ns)
        found = [
            Subflow(name, path, self._interface(name, str(row["server"])), rows)
            for (name,), rows in grouped(own, "subflow").items()
            if (path := self._interface(name, client)) is not None
        ]
        node = next(node for node in self.plan.nodes if node.name == client)
        return Connection(
            transfer=row,
            client=client,
            sender=sender,
            start_ns=start_ns,
            end_ns=end_ns,
            subflows=found,
            samples=samples.of_connections(sender, tokens, start_ns, end_ns),
            paths=[interface.name for interface in node.interfaces],
        )

    def _interface(self, subflow: str, host: str) -> str | None:
        """The interface of a host that a subflow begins or ends at."""
        for end in _ends(subflow):
            address = end.rpartition(":")[0].strip("[]")
            node, interface = self.view.interface_of_address.get(address, (None, None))
            if node == host:
                return interface
        return None


class _Samples:
    """The samples of a recording, found by host and by an end or a token."""

    def __init__(self, recording: Recording) -> None:
        self._by_token = grouped(recording.rows("subflow_samples", _SUBFLOW), "node", "token")
        self._by_end: dict[tuple[str, str], list[Row]] = {}
        for rows in self._by_token.values():
            for row in rows:
                for end in _ends(row["subflow"]):
                    self._by_end.setdefault((row["node"], end), []).append(row)
        connections = recording.rows("connection_samples", _CONNECTION)
        self._of_connections = grouped(connections, "node", "token")

    def of(
        self, node: str, source: str, start_ns: int, end_ns: int
    ) -> tuple[Sequence[int], Sequence[Row]]:
        """The tokens, and by time the subflows' samples, of a connection from this source."""
        own = _between(self._by_end.get((node, source), ()), start_ns, end_ns)
        tokens = sorted({row["token"] for row in own if row["token"] is not None})
        # A final sample of a connection that fell back has no token.
        rows = [row for row in own if row["token"] is None]
        for token in tokens:
            rows += _between(self._by_token[node, token], start_ns, end_ns)
        return tokens, _by_time(rows)

    def of_connections(
        self, node: str, tokens: Sequence[int], start_ns: int, end_ns: int
    ) -> Sequence[Row]:
        """The samples of the connection with these tokens, by time."""
        rows = [row for token in tokens for row in self._of_connections.get((node, token), ())]
        return _by_time(_between(rows, start_ns, end_ns))


def _between(rows: Sequence[Row], start_ns: int, end_ns: int) -> list[Row]:
    return [row for row in rows if start_ns <= row["t_ns"] <= end_ns]


def _by_time(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["t_ns"])


def _ends(subflow: str) -> tuple[str, str]:
    """Both ends, `address:port`."""
    local, _, remote = subflow.partition("-")
    return local, remote


def increase(samples: Sequence[Mapping[str, Any]], column: str) -> int:
    """By how much a counter rose over these samples; 0 where it is not known."""
    known = [row[column] for row in samples if row[column] is not None]
    return max(0, known[-1] - known[0]) if known else 0

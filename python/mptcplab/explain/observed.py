"""Connections, their subflows by path, and links, as an explanation reads them of a recording.

A path is named by the client's interface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mptcplab.metrics.plan_view import PlanView
from mptcplab.metrics.rows import Row
from mptcplab.metrics.transfers import own_transfers, payload_transfers, timed_transfers
from mptcplab.plan import Plan
from mptcplab.plan.link import DirectionConfig, FixedRate, Link
from mptcplab.recording import Recording

_SUBFLOW = (
    "t_ns", "node", "token", "subflow", "backup", "bytes_sent", "bytes_acked",
    "bytes_retrans", "rtt_us", "min_rtt_us", "cwnd", "unacked", "snd_wnd", "busy_us",
    "rwnd_limited_us", "sndbuf_limited_us", "notsent_bytes", "snd_buf", "snd_queued",
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
        self.recording = recording
        self.view = view
        self.plan = Plan.model_validate(recording.manifest.plan)
        self.links = list(recording.rows("link_samples", _LINK))
        transfers = own_transfers(payload_transfers(timed_transfers(recording, view)))
        self.transfers = [row for row in transfers if row["until_ns"] is not None]
        self.own = [row for row in self.transfers if row["protocol"] == "mptcp"]
        self.others = [row for row in self.transfers if row["protocol"] != "mptcp"]
        subflows = list(recording.rows("subflow_samples", _SUBFLOW))
        samples = list(recording.rows("connection_samples", _CONNECTION))
        self.connections = [
            one
            for row in self.own
            for way in (("up", "down") if row["way"] == "both" else (row["way"],))
            if (one := self._connection(row, way, subflows, samples)) is not None
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
                own = [r for r in self.links if r["link"] == link.name and r["from"] == subject]
                return PathLink(link, own, link.config.directions[number])
        return None

    def _connection(
        self, row: Row, way: str, subflows: Sequence[Row], samples: Sequence[Row]
    ) -> Connection | None:
        client = row["client"]
        sender = client if way == "up" else row["server"]
        source = row["source"]
        start_ns, end_ns = row["start_ns"], row["until_ns"]
        if source is None or end_ns <= start_ns:
            return None
        at_sender = [
            one for one in subflows if one["node"] == sender and start_ns <= one["t_ns"] <= end_ns
        ]
        own = [one for one in at_sender if source in _ends(one["subflow"])]
        tokens = {one["token"] for one in own if one["token"] is not None}
        if tokens:
            own = [one for one in at_sender if one["token"] in tokens]
        names = dict.fromkeys(one["subflow"] for one in own)
        found = [
            Subflow(name, path, [one for one in own if one["subflow"] == name])
            for name in names
            if (path := self._path(name, client)) is not None
        ]
        node = next(node for node in self.plan.nodes if node.name == client)
        return Connection(
            transfer=row,
            client=client,
            sender=sender,
            start_ns=start_ns,
            end_ns=end_ns,
            subflows=found,
            samples=[
                one
                for one in samples
                if one["node"] == sender
                and one["token"] in tokens
                and start_ns <= one["t_ns"] <= end_ns
            ],
            paths=[interface.name for interface in node.interfaces],
        )

    def _path(self, subflow: str, client: str) -> str | None:
        for end in _ends(subflow):
            address = end.rpartition(":")[0].strip("[]")
            node, interface = self.view.interface_of_address.get(address, (None, None))
            if node == client:
                return interface
        return None


def _ends(subflow: str) -> tuple[str, str]:
    """Both ends, `address:port`."""
    local, _, remote = subflow.partition("-")
    return local, remote


def increase(samples: Sequence[Mapping[str, Any]], column: str) -> int:
    """By how much a counter rose over these samples; 0 where it is not known."""
    known = [row[column] for row in samples if row[column] is not None]
    return max(0, known[-1] - known[0]) if known else 0

"""Traffic of a plan."""

from typing import Annotated, Literal

from pydantic import Field

from mptcplab.plan.model import Index, IpAddress, Model

Way = Literal["up", "down", "both"]


class OwnSubflow(Model):
    """A subflow that an application opens by itself."""

    source: IpAddress
    target: IpAddress


class BulkWorkload(Model):
    """As much as the connection carries, until a time or an amount."""

    kind: Literal["bulk"] = "bulk"
    way: Way
    streams: int
    duration_ns: int | None
    bytes: int | None
    rate_bps: int | None = None


class DatagramsWorkload(Model):
    """UDP datagrams at a constant rate."""

    kind: Literal["datagrams"] = "datagrams"
    way: Way
    rate_bps: int
    packet_bytes: int
    duration_ns: int
    on_off_ns: tuple[int, int] | None


class HttpWorkload(Model):
    """Downloads over HTTP/1.1, a connection each."""

    kind: Literal["http"] = "http"
    bytes: int
    count: int


class FtpWorkload(Model):
    """One file over FTP."""

    kind: Literal["ftp"] = "ftp"
    way: Way
    bytes: int
    count: int


class PingWorkload(Model):
    """ICMP echo."""

    kind: Literal["ping"] = "ping"
    interval_ns: int
    count: int
    payload_bytes: int


class StreamWorkload(Model):
    """Frames made at a constant rate, each of use until its deadline, over one connection."""

    kind: Literal["stream"] = "stream"
    way: Way
    rate_bps: int
    frame_bytes: int
    deadline_ns: int
    duration_ns: int

    @property
    def frames(self) -> int:
        """How many frames are made."""
        frame = self.frame_bytes * 8 * 10**9
        return (self.duration_ns - 1) * self.rate_bps // frame + 1


class RequestResponseWorkload(Model):
    """Request and response over one connection, one outstanding."""

    kind: Literal["request_response"] = "request_response"
    request_bytes: int
    response_bytes: int
    interval_ns: int
    count: int


class CommandWorkload(Model):
    """Any command, run inside the client's host."""

    kind: Literal["command"] = "command"
    argv: tuple[str, ...]
    server_argv: tuple[str, ...] | None
    duration_ns: int | None


Workload = Annotated[
    BulkWorkload
    | DatagramsWorkload
    | HttpWorkload
    | FtpWorkload
    | PingWorkload
    | StreamWorkload
    | RequestResponseWorkload
    | CommandWorkload,
    Field(discriminator="kind"),
]


class Traffic(Model):
    """One client's traffic."""

    name: str
    client: Index
    server: Index
    protocol: Literal["tcp", "mptcp"]
    source: IpAddress | None
    target: IpAddress
    port: int
    start_ns: int
    congestion_control: str
    server_congestion_control: str
    dual_stack: bool = False
    expected_joins: int
    subflows: tuple[OwnSubflow, ...] = ()
    workload: Workload

    @property
    def duration_ns(self) -> int | None:
        """How long its transfers last; null where something else ends them."""
        match self.workload:
            case BulkWorkload() | CommandWorkload() | DatagramsWorkload() as timed:
                return timed.duration_ns
            case StreamWorkload() as stream:
                return stream.duration_ns
        return None

"""The extension module: a thin Python face of the crates."""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import NoReturn

from mptcplab.engine.algorithms import CongestionControl, Scheduler

class SimulationError(Exception):
    """A plan that cannot be simulated; the message says why."""

class TraceError(Exception):
    """Captures that cannot be read, or tables that cannot be written; the message says why."""

class ControllerError(Exception):
    """A controller that does not start; the message says why."""

class BpfError(Exception):
    """A request that BPF cannot carry out here; the message says why, and what to do."""

class HeldControl:
    """A congestion control that stays registered until `close`, or until the process ends."""

    def close(self) -> None:
        """Let go of it; the kernel unregisters it when nobody else holds it."""

class Subflow:
    """A subflow, as a scheduler sees it."""

    @property
    def id(self) -> int:
        """Its number in the connection: 0 for the first, never used again."""

    @property
    def backup(self) -> bool:
        """To be used only where there is no other."""

    @property
    def smoothed_rtt_ns(self) -> int:
        """Smoothed round-trip time; 0 before the first measurement."""

    @property
    def rtt_variation_ns(self) -> int:
        """Variation of the round-trip time."""

    @property
    def window_bytes(self) -> int:
        """Congestion window."""

    @property
    def room_bytes(self) -> int:
        """The part of the window that the data already handed over leaves free."""

    @property
    def queued_bytes(self) -> int:
        """Handed over and not yet acknowledged."""

    @property
    def queue_limit_bytes(self) -> int:
        """The most that it may be handed."""

    @property
    def rate_bytes_per_second(self) -> int:
        """Its rate."""

    @property
    def segment_bytes(self) -> int:
        """Largest payload of a segment."""

class Connection:
    """A connection as a scheduler sees it. Offsets count the bytes of its data from 0."""

    @property
    def now_ns(self) -> int:
        """The time."""

    @property
    def subflows(self) -> list[Subflow]:
        """The usable subflows in the order in which they were opened."""

    @property
    def acknowledged(self) -> int:
        """The first byte that the peer has not acknowledged."""

    @property
    def next(self) -> int:
        """The first byte that no subflow was given yet."""

    @property
    def end(self) -> int:
        """The end of what the application has written."""

    @property
    def window_end(self) -> int:
        """The end of the peer's receive window."""

class Window:
    """The congestion window of a TCP connection or a subflow."""

    bytes: int
    """cwnd; from one segment to 2^40."""

    slow_start_threshold_bytes: int
    """ssthresh; 2^64 - 1 until the first loss, and set from two segments to 2^40."""

    @property
    def segment_bytes(self) -> int:
        """Largest payload of a segment."""

    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the slow start threshold."""

class PathView:
    """A subflow of the connection, as a coupled congestion control sees it."""

    @property
    def is_self(self) -> bool:
        """The one to which the event happened."""

    @property
    def window_bytes(self) -> int:
        """Congestion window (cwnd)."""

    @property
    def slow_start_threshold_bytes(self) -> int:
        """Slow start threshold (ssthresh)."""

    @property
    def segment_bytes(self) -> int:
        """Largest payload of a segment."""

    @property
    def smoothed_rtt_ns(self) -> int:
        """SRTT; 0 before the first sample."""

    @property
    def min_rtt_ns(self) -> int:
        """Smallest round trip of the recent past (minutes)."""

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight."""

    @property
    def bytes_since_loss(self) -> int:
        """Bytes delivered since the last loss."""

    @property
    def bytes_between_losses(self) -> int:
        """Bytes delivered between the last two losses."""

class Ack:
    """An acknowledgement that delivered data, outside of loss recovery or after a timeout."""

    @property
    def now_ns(self) -> int:
        """When it arrived."""

    @property
    def acknowledged_bytes(self) -> int:
        """Bytes newly delivered, cumulatively or selectively."""

    @property
    def rtt_ns(self) -> int | None:
        """Round trip of the newest data that it delivered; None where that was retransmitted."""

    @property
    def smoothed_rtt_ns(self) -> int:
        """SRTT, this sample included; 0 before the first."""

    @property
    def min_rtt_ns(self) -> int:
        """Smallest round trip of the recent past (minutes)."""

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight after it."""

    @property
    def window_limited(self) -> bool:
        """The window limited what was sent lately; one that does not limit must not grow."""

    @property
    def acknowledged(self) -> int:
        """SND.UNA as an offset in the stream, after it."""

    @property
    def next(self) -> int:
        """SND.NXT as an offset in the stream: a round trip ends when it is acknowledged."""

    @property
    def paths(self) -> list[PathView]:
        """The established subflows of the connection; empty where the control is not coupled."""

class CongestionEvent:
    """A loss, an ECN echo or a timeout: at most once a window."""

    @property
    def now_ns(self) -> int:
        """When it was noticed."""

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in flight before it was noticed."""

    @property
    def smoothed_rtt_ns(self) -> int:
        """SRTT; 0 before the first sample."""

    @property
    def cause(self) -> str:
        """`loss`, `ecn-echo` or `timeout`."""

    @property
    def paths(self) -> list[PathView]:
        """The established subflows of the connection; empty where the control is not coupled."""

def lab_main() -> NoReturn:
    """Run the plan that stands on the first line of standard input, and end the process."""

def hold_congestion_control(name: str) -> HeldControl:
    """Register a coupled one, or take part in its registration, until the result is closed.

    Raises:
        BpfError: it cannot be loaded.

    """

def serve_controller(
    config_json: str,
    stop: int,
    json: bool,
    choose: Callable[..., int] | None = None,
) -> None:
    """Serve OpenFlow switches until the descriptor `stop` is readable, or standard output ends.

    Events go to standard output, a line each, as JSON where asked. A signal does not end it.
    `choose` is the function of a policy in Python, which the configuration names; what it raises
    ends the serving.

    Raises:
        ControllerError: the configuration is none, or cannot be carried out.
        OSError: standard output cannot be written.

    """

def simulate(
    plan_json: str,
    take: Callable[[bytes], bool],
    scheduler: Scheduler | None = None,
    congestion_controls: Mapping[str, Callable[[], CongestionControl]] = ...,
    load_policy: Callable[[str, str], Callable[..., int]] | None = None,
) -> None:
    """Run a plan in virtual time.

    `take` is given the rows of the recording as JSON lines, some at a time, the last one `done`.
    Where it returns false, or raises, the run ends there. `scheduler` decides for the hosts whose
    scheduler is called `supplied` in the plan. `congestion_controls` make those that the plan calls
    by these names, one for each TCP connection and subflow. `load_policy` is given the name and the
    text of a policy in Python, if the plan has one, and gives its function.

    Raises:
        SimulationError: the plan cannot be read, or asks for what there is not in the simulator.

    """

def trace(
    files: list[str],
    tables: str,
    packets: bool,
    checksums: bool,
    workers: int,
    progress: Callable[[int, int], bool],
) -> str:
    """Analyse captures, and write the tables into the folder `tables`, which there must be.

    `progress` is given the bytes that were read and those that there are; where it returns false,
    reading ends there. Gives the text of `capture.json`.

    Raises:
        TraceError: a file cannot be read at all, or a table cannot be written.

    """

def write_frames(
    files: list[str],
    chosen: list[list[int]],
    to: str,
    progress: Callable[[int, int], bool],
) -> int:
    """Write frames of captures as pcapng: of each file those of the numbers, which grow.

    Gives how many were written. `progress` is that of `trace`.

    Raises:
        TraceError: a file cannot be read, or `to` cannot be written.

    """

def payloads(
    files: list[str], chosen: list[list[int]], take: Callable[[int, int, bytes], object]
) -> None:
    """Pass the captured data of segments to `take`: place of the file, frame, bytes.

    Raises:
        TraceError: a file cannot be read.

    """

_Address = tuple[IPv4Address | IPv6Address, int]

def subflow_ids(socket: int) -> list[int]:
    """Give the ids of the current subflows of the MPTCP socket with the descriptor `socket`."""

def subflow_tuple(socket: int, id: int) -> str:
    """Give a subflow's addresses, address ids, state and priority as JSON."""

def subflow_connection(socket: int) -> str:
    """Give a connection's counters and its subflows with theirs as JSON."""

def subflow_option(socket: int, id: int, level: int, option: int) -> bytes | None:
    """Give the value of an option on one subflow where the kernel tells anybody."""

class SubflowManager:
    """Carries out orders of any number of threads.

    Its methods raise the exceptions of `mptcplab.subflow.errors`.
    """

    @staticmethod
    def open() -> SubflowManager:
        """By the broker where there is one, else by this process itself."""

    @staticmethod
    def direct() -> SubflowManager:
        """By this process itself."""

    @staticmethod
    def broker(path: str) -> SubflowManager:
        """By the broker at this socket."""

    @property
    def broker_path(self) -> str | None:
        """The broker's socket; None where orders are given by this process itself."""

    def open_subflow(
        self,
        socket: int,
        local: _Address,
        remote: _Address | None,
        backup: bool,
        interface: str | None,
        timeout_s: float,
    ) -> int:
        """Open a subflow and give its id."""

    def close_subflow(self, socket: int, id: int) -> None:
        """Close a subflow."""

    def set_backup(self, socket: int, id: int, backup: bool) -> None:
        """Make a subflow a backup, or no longer."""

    def announce(self, socket: int, address: _Address) -> int:
        """Announce an address and give its id."""

    def withdraw(self, socket: int, id: int) -> None:
        """Withdraw an announced address."""

    def getsockopt(self, socket: int, id: int, level: int, option: int) -> bytes:
        """Give the value of an option on one subflow."""

    def setsockopt(self, socket: int, id: int, level: int, option: int, value: bytes) -> None:
        """Set an option on one subflow."""

    def events(self, socket: int) -> SubflowWatch:
        """Watch a connection from now on."""

class SubflowWatch:
    """Events of one connection."""

    def next(self, timeout_s: float | None) -> tuple[str | None, bool]:
        """Give the next event as JSON, and whether nothing follows."""

    def fileno(self) -> int:
        """Give a descriptor that is ready to be read when there may be an event."""

    def close(self) -> None:
        """End the watching, also while another thread waits."""

class MeasureError(Exception):
    """A measurement that cannot begin or go on; the message says why."""

class MeasureStopped(MeasureError):  # noqa: N818 - stopping is no error
    """The caller wants no more of a measurement, or its budget is used up."""

class MeasureSession:
    """A session with a target."""

    def __new__(
        cls, host: str, port: int, token: str, goes_on: Callable[[], bool] | None = None
    ) -> MeasureSession:
        """Connect to a target whose token is held, while `goes_on` says yes."""

    def terms(self) -> str:
        """The terms of the target, as JSON."""

    @staticmethod
    def settings() -> str:
        """Settings of this end's network namespace, as JSON."""

    def target(self) -> str:
        """The address at which the target was reached."""

    def control_bytes(self) -> int:
        """Bytes that have gone over the control channel, both ways."""

    def payload_bytes(self) -> int:
        """Payload of all experiments, both ways, also of those that failed."""

    def paths(self, goes_on: Callable[[], bool] | None = None) -> str:
        """The local addresses that reach the target, as JSON."""

    def run(self, plan: str, goes_on: Callable[[int], bool], most_bytes: int = ...) -> str:
        """Carry out an experiment, given as JSON; its result is JSON, too.

        It takes `most_bytes` at most, those of the control channel included.
        """

class EndpointHold:
    """Endpoints of the kernel's path manager, until `close` or the process's end."""

    def __new__(
        cls,
        wanted: list[tuple[IPv4Address | IPv6Address, int]],
        target: tuple[IPv4Address | IPv6Address, int] | None = None,
    ) -> EndpointHold:
        """Add those that are missing, where there are several: addresses, numbers of interfaces.

        The number is 0 where none is to be bound to. From other endpoints that there are, no
        subflow is opened to the `target`, an address and a port.
        """

    def added(self) -> list[str]:
        """The addresses of those that were added."""

    def unused(self) -> list[str]:
        """The addresses of others, from which no subflow is opened to the target."""

    def close(self) -> None:
        """Take away what was added."""

class DebugSessionError(Exception):
    """A request that a session cannot carry out; the message says why."""

class DebugSession:
    """A simulated world that stands still, is stepped, and goes back to any moment of its past.

    Stops, changes and state are JSON.
    """

    def __init__(self, plan_json: str) -> None:
        """The world of a plan at time 0. Raises DebugSessionError where it cannot be simulated."""

    @staticmethod
    def decisions() -> list[str]:
        """The names of decisions that `run` stops at."""

    @property
    def position(self) -> tuple[int, int]:
        """The time, and the events of the simulator so far."""

    @property
    def has_ended(self) -> bool:
        """Whether all traffic has ended."""

    @property
    def connection_count(self) -> int:
        """How many connections were opened so far."""

    def run(self, stops_json: str, until_ns: int | None = None) -> str:
        """Run to one of some stops, to a time, or to the end of the traffic.

        Ctrl-C leaves it where it is by then. Raises DebugSessionError for a name that means
        nothing, as do the other functions.
        """

    def check(self, stops_json: str) -> None:
        """Look up the names of some stops."""

    def holds(self, condition_json: str) -> bool:
        """Whether a condition holds now."""

    def value(self, path_json: str) -> str:
        """The value of a name, as JSON."""

    def step(self) -> str:
        """Let one event of the simulator happen."""

    def back(self, events: int) -> None:
        """Go back by so many events. Raises DebugSessionError where there were fewer."""

    def back_until(self, stops_json: str, count: int) -> str:
        """Go back to where one of some stops was met the last time, or so many times before."""

    def skip(self, events: int) -> None:
        """Go on by so many events."""

    def go_to_time(self, now_ns: int) -> None:
        """Go to a time, earlier or later."""

    def change(self, change_json: str) -> None:
        """Make a change."""

    def branch(self) -> DebugSession:
        """Another session that goes on from here by itself."""

    def connection(self, number: int) -> str | None:
        """The state of a connection; none where none has this number."""

    def link(self, number: int) -> str:
        """The state of a link of the plan, with its packets."""

    def node(self, number: int) -> str:
        """The state of a node of the plan, with its routing tables."""

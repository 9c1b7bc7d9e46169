"""The extension module: a thin Python face of the crates."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from typing import NoReturn

class SimulationError(Exception):
    """A plan that cannot be simulated; the message says why."""

class TraceError(Exception):
    """Captures that cannot be read, or tables that cannot be written; the message says why."""

class BpfError(Exception):
    """What cannot be done by BPF here; the message says why, and what to do."""

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
        """What the window and the data already handed over leave free."""

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
    """What a scheduler sees of a connection. Offsets count the bytes of its data from 0."""

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

Scheduler = Callable[[Connection], tuple[int, int] | None]
"""Gives the place of a subflow and the bytes of new data that it gets, or None to wait."""

def lab_main() -> NoReturn:
    """Run the plan that stands on the first line of standard input, and end the process."""

def congestion_controls() -> list[tuple[str, str]]:
    """Give the coupled ones by name, each with `absent`, `loaded`, `held` or `present`.

    `loaded` stays until it is unloaded, `held` as long as a `HeldControl` of some process, and
    `present` was loaded by others, or by whom cannot be told without privileges.

    Raises:
        BpfError: the kernel does not tell.

    """

def hold_congestion_control(name: str) -> HeldControl:
    """Register a coupled one, or take part in its registration, until the result is closed.

    Raises:
        BpfError: it cannot be loaded.

    """

def load_congestion_control(name: str) -> None:
    """Register a coupled one until it is unloaded.

    Raises:
        BpfError: it cannot be loaded, or is registered already.

    """

def unload_congestion_control(name: str) -> None:
    """Unregister one that was loaded.

    Raises:
        BpfError: it was not loaded.

    """

class PathManagerError(Exception):
    """The path manager cannot work here; the text says why, and the mend."""

class PathManager:
    """A path manager for the network namespace of the thread that makes it.

    It hears of connections from then on. Where it takes charge it sets
    `net.mptcp.path_manager=userspace`, and gives the setting back when it is gone.

    Raises:
        PathManagerError: it cannot work here.

    """

    def __init__(self, config: str, takes_charge: bool) -> None: ...
    def run(self, tell: Callable[[str, str | None], None]) -> None:
        """Work until it is stopped.

        `tell` is given each order as JSON, and why the kernel refused it, where it did.

        Raises:
            PathManagerError: the kernel tells nothing any more.

        """

    def stop(self) -> None:
        """End it, from any thread."""

def netcat(options: str) -> int:
    """Run netcat with the standard input, output and error of this process; give its exit status.

    `options` is a JSON object. Meanwhile Ctrl-C and a polite kill belong to netcat, if the caller
    has no other thread.

    Raises:
        ValueError: the options are none.

    """

def simulate(
    plan_json: str, take: Callable[[bytes], bool], scheduler: Scheduler | None = None
) -> None:
    """Run a plan in virtual time.

    `take` is given the rows of the recording as JSON lines, some at a time, the last one `done`.
    Where it returns false, or raises, the run ends there. `scheduler` decides for the hosts whose
    scheduler is called `supplied` in the plan.

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
    """What happens to one connection."""

    def next(self, timeout_s: float | None) -> tuple[str | None, bool]:
        """Give the next event as JSON, and whether nothing follows."""

    def fileno(self) -> int:
        """Give a descriptor that is ready to be read when there may be an event."""

    def close(self) -> None:
        """End the watching, also while another thread waits."""

class BrokerError(Exception):
    """A broker that cannot start; the message says why and what to do about it."""

def broker(config: str) -> None:
    """Serve orders about subflows until SIGTERM or SIGINT, and end the process.

    `config` is JSON. Call it in a process that has started no thread: it gives up everything but
    CAP_NET_ADMIN, and what it gives up is gone for the process.

    Raises:
        BrokerError: it cannot start.

    """

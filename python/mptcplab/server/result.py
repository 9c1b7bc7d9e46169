"""A result as an agent sends it: one experiment.

Unknown keys are refused, but in the accounts of connections: those are the extension's own, of the
agent's version. Their known keys are checked, and all are kept, as the bytes are.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, Self

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from mptcplab.measure.plan import MOST_PATHS, Direction, Kind
from mptcplab.server.fields import (
    Address,
    AgentId,
    CongestionControl,
    Count,
    Host,
    PlanId,
    Port,
    ResultId,
    Sentence,
    Strict,
    Word,
)

LARGEST_BYTES = 4 << 20
"""Of a result as JSON."""
MOST_STEPS = 5_000
_MOST_SUBFLOWS = 64
_MOST_ECHOES = 2_000
_ACCOUNT = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)

Place = Annotated[str, Field(max_length=100)]
"""Address and port."""
Small = Annotated[int, Field(ge=0, le=255)]
Share = Annotated[float, Field(ge=0, le=1)]


class Subflow(TypedDict):
    """A subflow, as one end sees it."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    local: Place
    remote: Place
    sent_bytes: Count | None
    received_bytes: Count | None


FastOpenFailure = Literal["cookie_unavailable", "data_not_acked", "syn_retransmitted"]


class Seen(TypedDict):
    """The kernel's account of a connection."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    mptcp: bool
    announced: Small
    accepted: Small
    subflows_allowed: Small | None
    endpoints: Small | None
    subflows: Annotated[list[Subflow], Field(max_length=_MOST_SUBFLOWS)]
    congestion_control: NotRequired[Word | None]
    checksum: NotRequired[bool | None]
    syn_data_acked: NotRequired[bool | None]
    fast_open_failure: NotRequired[FastOpenFailure | None]


class Syn(TypedDict):
    """Options of a SYN that came."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    names: Annotated[list[Word], Field(max_length=64)]
    data_bytes: NotRequired[Count]


class End(TypedDict):
    """One end's account of a connection."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    sent_bytes: Count
    received_bytes: Count
    duration_us: Count
    moved_by_all_bytes: Count
    ended_us: NotRequired[Count]
    failure: Annotated[str, Field(max_length=1_000)] | None
    seen: Seen
    syn: Syn | None
    changed_bytes: NotRequired[Count | None]


class Connection(TypedDict):
    """Both ends' accounts of a connection."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    failure: Annotated[str, Field(max_length=1_000)] | None
    connect_us: Count | None
    rtts_us: Annotated[list[Count], Field(max_length=_MOST_ECHOES)]
    sources: NotRequired[Annotated[list[Address], Field(max_length=_MOST_SUBFLOWS)]]
    refused: NotRequired[bool]
    probe: End
    target: End | None


class WrongChecksums(TypedDict):
    """Mappings of MPTCP with a wrong one, at each end."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    probe: Count | None
    target: Count | None


class Measured(TypedDict):
    """The accounts of a step."""

    __pydantic_config__ = _ACCOUNT  # type: ignore[misc]

    connections: Annotated[list[Connection], Field(max_length=MOST_PATHS)]
    wrong_checksums: NotRequired[WrongChecksums]


class Path(Strict):
    """A local address that reaches the target."""

    interface: Word
    source: Address
    device: Word | None
    index: Count


class HostState(Strict):
    """The agent's host while it measured."""

    version: Word
    kernel: Word
    processors: Annotated[int, Field(ge=1, le=100_000)]
    load_1m: Annotated[float, Field(ge=0, le=1e9)]
    busy: Share
    steal: Share
    starved: bool


class Target(Strict):
    """The end that it measured against."""

    host: Host
    port: Port
    rate_limit_bps: Count | None


Number = Annotated[int, Field(ge=0, lt=MOST_PATHS)]
"""Of a path."""


class Step(Strict):
    """One of the measurements that an experiment is made of."""

    kind: Kind
    repetition: Annotated[int, Field(ge=0, le=1_000)]
    path: Number | None
    direction: Direction | None
    size_bytes: Count
    begin: Number | None = None
    """Of MPTCP over all paths, the path on which it began."""
    result: Measured

    @model_validator(mode="after")
    def _is_of_its_kind(self) -> Self:
        """Refuses what the figures could not be computed from."""
        count = len(self.result["connections"])
        is_all_paths = self.kind in (Kind.MPTCP, Kind.AT_ONCE)
        if is_all_paths is not (self.path is None):
            raise ValueError(f"{self.kind}: `path` is " + ("null" if is_all_paths else "a number"))
        wanted = {Kind.SURVIVAL: 2, Kind.LOADED: 2, Kind.AT_ONCE: count}.get(self.kind, 1)
        if self.kind is Kind.FAST_OPEN and self.repetition:
            wanted = 3
        if not (1 <= count == wanted):
            raise ValueError(f"{self.kind}: {count} connections")
        self._has_looked()
        if self.begin is not None and self.kind is not Kind.MPTCP:
            raise ValueError(f"{self.kind}: `begin` is null")
        if self.kind in (Kind.TCP, Kind.MPTCP, Kind.AT_ONCE) and (
            self.direction is None or not self.size_bytes
        ):
            raise ValueError(f"{self.kind}: wants `direction` and `size_bytes`")
        return self

    def _has_looked(self) -> None:
        """Refuses a look without what it is for."""
        ends = [
            end
            for one in self.result["connections"]
            for end in (one["probe"], one["target"])
            if end is not None
        ]
        syns = [end["syn"] for end in ends if end["syn"] is not None]
        seen = [end["seen"] for end in ends]
        missing = {
            Kind.PAYLOAD: "wrong_checksums" not in self.result
            or any("refused" not in one for one in self.result["connections"])
            or any("changed_bytes" not in end for end in ends)
            or any("checksum" not in one for one in seen),
            Kind.FAST_OPEN: any("data_bytes" not in syn for syn in syns)
            or any("syn_data_acked" not in one for one in seen)
            or any("fast_open_failure" not in one for one in seen),
        }
        if missing.get(self.kind):
            raise ValueError(f"{self.kind}: the accounts lack what it is for")


class EndSettings(Strict):
    """Settings of one end. Null: not known."""

    checksum_enabled: bool | None
    tcp_fastopen: Annotated[int, Field(ge=0, lt=2**32)] | None
    mptcp_fast_open: bool


class BothSettings(Strict):
    """Settings that decide what could be tried."""

    probe: EndSettings
    target: EndSettings


Outcome = Literal["complete", "partial", "failed", "skipped"]
Paths = Annotated[tuple[Path, ...], Field(max_length=64)]


class Result(Strict):
    """One experiment of an agent."""

    format: Literal[1]
    id: ResultId
    sequence: Count
    agent: AgentId
    plan: PlanId
    seed: Annotated[int, Field(ge=0, lt=2**64)]
    congestion_control: CongestionControl | None = None
    """That both ends were to use; null: that of each end's system."""
    outcome: Outcome
    reason: Sentence | None
    began_unix_ms: Count
    took_ms: Count
    boot: Word
    host: HostState
    target: Target
    paths: Annotated[tuple[Path, ...], Field(max_length=MOST_PATHS)]
    left_out: Paths
    sent_options: Annotated[tuple[Word, ...], Field(max_length=64)]
    settings: BothSettings | None = None
    """Null: not known, of an agent of the version before."""
    endpoints: Annotated[tuple[Address, ...], Field(max_length=64)] | None
    steps: Annotated[tuple[Step, ...], Field(max_length=MOST_STEPS)]
    used_bytes: Count

    @model_validator(mode="after")
    def _names_paths_that_it_has(self) -> Self:
        for number, step in enumerate(self.steps):
            for name in ("path", "begin"):
                given = getattr(step, name)
                if given is not None and given >= len(self.paths):
                    raise ValueError(f"steps.{number}.{name}: there are {len(self.paths)} paths")
        if self.outcome in ("failed", "skipped") and self.steps:
            raise ValueError(f"steps: an experiment that has {self.outcome} has none")
        return self

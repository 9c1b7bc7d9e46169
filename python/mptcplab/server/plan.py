"""A plan: experiments that agents are to carry out, and when."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from mptcplab.measure.plan import MOST_PATHS, Direction
from mptcplab.server.fields import (
    Address,
    AgentId,
    Clock,
    CongestionControl,
    Count,
    Host,
    NamespaceName,
    Port,
    Strict,
    Word,
)
from mptcplab.server.result import MOST_STEPS

LARGEST_BYTES = 128 << 10
"""Of a plan as JSON."""
MOST_SIZES = 8
MOST_CONGESTION_CONTROLS = 8
LARGEST_SIZE_BYTES = 10**12
LONGEST_PERIOD_S = 366 * 86_400
PORT = 4420
"""The target's, where none is given."""

TargetToken = Annotated[
    str, StringConstraints(max_length=500, pattern=r"^mptcplab1-[A-Za-z0-9_-]+$")
]
CongestionControls = Annotated[
    list[CongestionControl],
    Field(min_length=1, max_length=MOST_CONGESTION_CONTROLS),
]
Size = Annotated[int, Field(ge=1, le=LARGEST_SIZE_BYTES)]
Period = Annotated[int, Field(ge=1, le=LONGEST_PERIOD_S)]
Budget = Annotated[int, Field(ge=1, le=10**15)]


def as_list(value: object) -> object:
    """A single name as a list of it."""
    return [value] if isinstance(value, str) else value


class PlanTarget(Strict):
    """The end to measure against."""

    host: Host
    port: Port = PORT
    token: TargetToken


class Schedule(Strict):
    """The time between experiments."""

    every_s: Period
    spread_s: Annotated[int, Field(ge=0, le=LONGEST_PERIOD_S)] = 0
    """Each start is later by a time of chance below it."""

    @model_validator(mode="after")
    def _is_spread_within_the_period(self) -> Self:
        if self.spread_s > self.every_s:
            raise ValueError("spread_s: at most every_s")
        return self


class Window(Strict):
    """A part of each day in which experiments begin; over midnight where it ends earlier."""

    from_: Annotated[Clock, Field(alias="from")]
    to: Clock


_LISTS = (
    "sizes_bytes",
    "directions",
    "interfaces",
    "addresses",
    "congestion_control",
    "agents",
)


class Plan(Strict):
    """A plan as the API has it, in base units."""

    target: PlanTarget
    interfaces: Annotated[list[Word], Field(min_length=1, max_length=MOST_PATHS)] | None = None
    """Null, as `addresses` are: all that reach the target."""
    addresses: Annotated[list[Address], Field(min_length=1, max_length=MOST_PATHS)] | None = None
    """Local addresses, a path each, beside the interfaces."""
    namespace: NamespaceName | None = None
    """The network namespace that they are in; null: the agent's own."""
    sizes_bytes: Annotated[list[Size], Field(min_length=1, max_length=MOST_SIZES)]
    directions: Annotated[list[Direction], Field(min_length=1, max_length=2)] = Field(
        default_factory=lambda: list(Direction)
    )
    repeat: Annotated[int, Field(ge=1, le=100)] = 3
    congestion_control: Annotated[CongestionControls | None, BeforeValidator(as_list)] = None
    """Of both ends, each in an experiment of its own; a single name is a list of one. Null: that of
    each end's system."""
    order: Literal["random", "interleaved"] = "random"
    seed: Count = 1
    schedule: Schedule
    windows: Annotated[list[Window], Field(max_length=20)] = Field(default_factory=list)
    budget_bytes: Budget
    """Of one experiment; never exceeded."""
    daily_bytes: Budget
    """Of a day (UTC), over all experiments of an agent."""
    most_experiments: Annotated[int, Field(ge=1, le=10**9)] | None = None
    until_unix_s: Count | None = None
    agents: Annotated[list[AgentId], Field(min_length=1, max_length=10_000)] | None = None
    """Those that carry it out; null: all."""

    @model_validator(mode="after")
    def _can_be_carried_out(self) -> Self:
        for name in _LISTS:
            given = getattr(self, name) or []
            if len(set(given)) < len(given):
                raise ValueError(f"{name}: each at most once")
        if self.budget_bytes > self.daily_bytes:
            raise ValueError("budget_bytes: at most daily_bytes, or no experiment ever begins")
        if (count := self.most_steps()) > MOST_STEPS:
            raise ValueError(
                f"repeat: an experiment over {MOST_PATHS} paths would have {count} steps, and a "
                f"result takes {MOST_STEPS}: ask for fewer repetitions, sizes or directions"
            )
        least = 2 * self.repeat * len(self.directions) * sum(self.sizes_bytes)
        if least > self.budget_bytes:
            raise ValueError(
                f"budget_bytes: TCP over one path and MPTCP alone take {least}: allow more, or "
                "ask for fewer repetitions or smaller sizes"
            )
        return self

    def most_steps(self) -> int:
        """Of an experiment over as many paths as there can be."""
        # On each path survival twice, payload once, data in the SYN three times, and a load; in
        # each repetition once idle, and each transfer by TCP over it, by MPTCP, and by TCP over
        # all paths at once.
        transfers = len(self.directions) * len(self.sizes_bytes)
        return 7 * MOST_PATHS + self.repeat * (MOST_PATHS + transfers * (MOST_PATHS + 2))

    def of_agent(self, name: str, version: int) -> dict[str, Any]:
        """The plan as an agent gets it."""
        told = self.model_dump(mode="json", by_alias=True, exclude={"agents"})
        return {"id": plan_id(name, version), "name": name, **told}


def plan_id(name: str, version: int) -> str:
    """`lines@3`."""
    return f"{name}@{version}"

"""How an MPTCP host divides what it sends among its subflows."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StrictBool, WithJsonSchema, model_validator

from mptcplab.scenario.algorithm import SCHEDULERS_FILE, algorithm_name, name_schema
from mptcplab.scenario.fields import Model, RefusalError, Short

SCHEDULERS = ("default", "lowest-rtt", "round-robin", "redundant", "blest", "ecf")
"""Names that the format knows; an engine refuses those that it does not have."""
_NAME_SCHEMA = name_schema(SCHEDULERS)
_OPTIONS = ("num_segments", "cwnd_limited", "opportunistic_retransmission", "penalisation")


class Scheduler(Model):
    """A scheduler and its options."""

    name: Annotated[
        str,
        BeforeValidator(algorithm_name(SCHEDULERS, SCHEDULERS_FILE)),
        WithJsonSchema(_NAME_SCHEMA),
    ]
    num_segments: int = Field(1, ge=1, le=255, description="round-robin: segments in turn")
    cwnd_limited: StrictBool = Field(
        True, description="round-robin: skip subflows whose congestion window is full"
    )
    opportunistic_retransmission: StrictBool = Field(
        False, description="Send what holds the full window up again on another subflow"
    )
    penalisation: StrictBool = Field(
        False, description="Halve the window of the subflow that held it up"
    )

    @model_validator(mode="after")
    def _effective(self) -> Scheduler:
        if self.name != "round-robin":
            for key in ("num_segments", "cwnd_limited"):
                if key in self.model_fields_set:
                    raise RefusalError(key, "is an option of `name: round-robin`")
        if self.name == "redundant" and self.opportunistic_retransmission:
            text = "redundant sends everything on every subflow already: remove it"
            raise RefusalError("opportunistic_retransmission", text)
        if self.penalisation and not self.opportunistic_retransmission:
            text = "comes after an opportunistic retransmission: add it, or remove this"
            raise RefusalError("penalisation", text)
        return self

    @property
    def has_options(self) -> bool:
        """Whether more is said than the name."""
        return bool(self.model_fields_set & set(_OPTIONS))


SchedulerField = Annotated[Scheduler, Short("name", _NAME_SCHEMA)]

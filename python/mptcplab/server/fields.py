"""Field types of all that comes from the network: every one of them is bounded."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from mptcplab.printable import UNPRINTABLE

LARGEST = 2**53
"""Integers beyond it are no integers any more in most programs that read JSON."""


class Strict(BaseModel):
    """Base of the models: immutable, no unknown keys, no conversions, no numbers beyond JSON's."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def _printable(text: str) -> str:
    if UNPRINTABLE.search(text) or "\n" in text or "\t" in text:
        raise ValueError("has characters that cannot be printed in one line")
    return text


@lru_cache(4_096)
def _address(text: str) -> str:
    ip_address(text)
    return text


Count = Annotated[int, Field(ge=0, le=LARGEST)]
"""Bytes, milliseconds, and the like."""
Word = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(_printable)]
"""A name, a version, an interface."""
Sentence = Annotated[str, StringConstraints(max_length=1_000), AfterValidator(_printable)]
Host = Annotated[
    str, StringConstraints(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9._:%-]+$")
]
"""A name of the domain name system, or an address."""
Port = Annotated[int, Field(ge=1, le=65_535)]
Address = Annotated[str, StringConstraints(max_length=64), AfterValidator(_address)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
"""Of a plan."""
AgentId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
ResultId = Annotated[
    str,
    StringConstraints(
        pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
    ),
]
"""A UUID of version 4, in small letters."""
PlanId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}@[1-9][0-9]{0,8}$")]
"""`lines@3`: a plan's name and the number of its change."""
NamespaceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$")]
"""Of a network namespace, as `ip netns` has it."""
CongestionControl = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,15}$")]
Clock = Annotated[str, StringConstraints(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")]
"""Time of a day, UTC."""

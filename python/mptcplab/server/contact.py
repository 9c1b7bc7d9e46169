"""Smaller bodies of the API: enrolment, contact, tokens."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from mptcplab.server.fields import Address, Count, Sentence, Strict, Word

LARGEST_BYTES = 256 << 10
"""Of each of them as JSON."""
Identifier = Annotated[str, Field(max_length=100)]


OwnSecret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}=?$")]
"""32 bytes as base64url."""


class Role(StrEnum):
    """Rights of a person or a program; each has those of the ones before it."""

    VIEWER = "viewer"
    """Reads."""
    OPERATOR = "operator"
    """Changes plans, enrolments and agents."""
    ADMIN = "admin"
    """Changes tokens of people."""

    def may(self, wanted: Role) -> bool:
        """Whether it has the rights of the other."""
        order = list(Role)
        return order.index(self) >= order.index(wanted)


class Enrolment(Strict):
    """An agent that is to be enrolled."""

    name: Word
    version: Word
    kernel: Word
    own_secret: OwnSecret | None = None
    """The agent's secret from then on, which it has made; null: the server makes one. Asked
    again with it, as an answer was lost, the server answers with the same agent."""


class Dropped(Strict):
    """Results that an agent had to give up."""

    size: Count
    age: Count


class Quarantined(Strict):
    """A result that the server has refused."""

    id: Identifier
    reason: Sentence


class ContactPath(Strict):
    """A path that an agent sees."""

    interface: Word
    source: Address


class Contact(Strict):
    """The state of an agent, as it tells it."""

    version: Word
    kernel: Word
    next_sequence: Count
    spooled: Count
    spooled_bytes: Count
    dropped: Dropped
    quarantined: Annotated[tuple[Quarantined, ...], Field(max_length=1_000)]
    """The last ones."""
    quarantined_count: Count | None = None
    """All of them; null: those of the list are all."""
    state: Literal["idle", "measuring"]
    problem: Sentence | None
    paths: Annotated[tuple[ContactPath, ...], Field(max_length=64)]


class NewEnrolment(Strict):
    """An enrolment token that is wanted."""

    agents: Annotated[int, Field(ge=1, le=10_000)] = 1
    """So many agents may be enrolled by it."""
    expires_s: Annotated[int, Field(ge=1, le=366 * 86_400)] = 7 * 86_400


class NewToken(Strict):
    """A token of a person or a program that is wanted."""

    name: Word
    role: Role = Role.VIEWER

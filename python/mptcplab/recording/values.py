"""The values that the columns of a recording's tables take."""

from dataclasses import dataclass

from mptcplab.tables.schema import Kind


@dataclass(frozen=True)
class Values:
    """The values that a column takes beside null."""

    words: str
    type: type
    integers: range | None = None

    def holds(self, value: object) -> bool:
        """Whether it is one of them."""
        return type(value) is self.type and (self.integers is None or value in self.integers)


VALUES: dict[Kind, Values] = {
    Kind.INTEGER: Values("a signed 64-bit integer", int, range(-(2**63), 2**63)),
    Kind.WIDE: Values("an unsigned 64-bit integer", int, range(2**64)),
    Kind.TEXT: Values("text", str),
    Kind.FLAG: Values("true or false", bool),
}

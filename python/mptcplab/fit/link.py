"""An estimated path as a link of a scenario."""

from typing import Any, Protocol


class Estimate(Protocol):
    """A path as far as it is known."""

    @property
    def rate_mbps(self) -> float:
        """Its rate."""

    @property
    def delay_ms(self) -> float:
        """One way."""

    @property
    def queue_bytes(self) -> int | None:
        """Its queue; null where that is not known."""


def link_of(name: str, other: str, of: Estimate) -> dict[str, Any]:
    """The link between the interfaces of this name of the client and of another node."""
    link: dict[str, Any] = {
        "between": [f"client.{name}", f"{other}.{name}"],
        "rate": f"{of.rate_mbps:.5g} Mbit/s",
        "delay": f"{of.delay_ms:.5g} ms",
    }
    if of.queue_bytes is not None:
        link["queue"] = f"{of.queue_bytes} B"
    return link

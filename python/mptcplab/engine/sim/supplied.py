"""Algorithms of Python for one run in virtual time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab.engine.algorithms import CongestionControl, Scheduler
    from mptcplab.scenario import Scenario


@dataclass(frozen=True)
class Supplied:
    """Algorithms of the caller that take part in a run."""

    scheduler: Scheduler | None = None
    """Decides for the hosts whose scheduler is called `supplied`."""
    congestion_controls: Mapping[str, Callable[[], CongestionControl]] = field(default_factory=dict)
    """By name: what makes one for each TCP connection and subflow."""

    @property
    def words(self) -> str:
        """The algorithms in words, for a message; empty where there are none."""
        of_name = {"scheduler": self.scheduler, "congestion control": self.congestion_controls}
        return " or ".join(name for name, of in of_name.items() if of)

    def check(self, scenario: Scenario) -> None:
        """Looks at the congestion controls; `scenario` is as the variant makes it.

        Raises:
            ValueError: the simulator has one of this name, or no host asks for it.
            TypeError: it cannot be called.

        """
        from mptcplab.engine.sim.refuse import CONGESTION_CONTROLS

        asked = {host.congestion_control for host in scenario.hosts.values()}
        for name, made_by in self.congestion_controls.items():
            if name in CONGESTION_CONTROLS:
                raise ValueError(f"the simulator has a congestion control {name}: rename yours")
            if name not in asked:
                raise ValueError(
                    f"no host has `congestion_control: {name}` in {scenario.name}: "
                    f"they have {', '.join(sorted(asked))}"
                )
            if not callable(made_by):
                raise TypeError(
                    f"the congestion control {name} is no class and no function: {made_by!r}"
                )

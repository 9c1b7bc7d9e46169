"""The rate traces that the tasks of a campaign carry to workers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from mptcplab.campaign.description import Campaign, named_traces
from mptcplab.engine.job import EngineError
from mptcplab.scenario import Scenario
from mptcplab.scenario.sweep import point


class Traces:
    """The content of each trace, by its name."""

    def __init__(self, scenario: Scenario, campaign: Campaign) -> None:
        """Reads them all.

        Raises:
            EngineError: one has a name by which workers would not find it.

        """
        for name in campaign.traces:
            if PurePath(name).is_absolute():
                raise EngineError(
                    f"--cluster: the trace {name} has an absolute path: name it from the "
                    "scenario's folder, so that workers find it"
                )
        self._contents = {name: (scenario.folder / name).read_bytes() for name in campaign.traces}
        assert scenario.sweep is not None
        self._axes = scenario.sweep.every_axis
        tree = scenario.provenance.tree
        self._of_every = set(named_traces({key: tree[key] for key in tree if key != "sweep"}))

    def of(self, points: Iterable[int]) -> dict[str, bytes]:
        """Those of the scenario itself, and of its values at these points."""
        needed = set(self._of_every)
        for number in set(points):
            needed.update(named_traces(point(self._axes, number)))
        return {name: content for name, content in self._contents.items() if name in needed}

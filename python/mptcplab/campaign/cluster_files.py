"""The files of rate traces and policies that the tasks of a campaign carry to workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from mptcplab.campaign.description import Campaign, named_policies, named_traces
from mptcplab.engine.job import EngineError
from mptcplab.scenario import Scenario
from mptcplab.scenario.sweep import point


class Files:
    """The content of each file, by its name."""

    def __init__(self, scenario: Scenario, campaign: Campaign) -> None:
        """Reads them all.

        Raises:
            EngineError: one has a name by which workers would not find it.

        """
        of_kind = {"trace": campaign.traces, "policy": campaign.policies}
        for kind, names in of_kind.items():
            for name in names:
                if PurePath(name).is_absolute():
                    raise EngineError(
                        f"--cluster: the {kind} {name} has an absolute path: name it from the "
                        "scenario's folder, so that workers find it"
                    )
        every = campaign.traces | campaign.policies
        self._contents = {name: (scenario.folder / name).read_bytes() for name in every}
        assert scenario.sweep is not None
        self._axes = scenario.sweep.every_axis
        tree = scenario.provenance.tree
        self._of_every = set(_named({key: tree[key] for key in tree if key != "sweep"}))

    def of(self, points: Iterable[int]) -> dict[str, bytes]:
        """Those of the scenario itself, and of its values at these points."""
        needed = set(self._of_every)
        for number in set(points):
            needed.update(_named(point(self._axes, number)))
        return {name: content for name, content in self._contents.items() if name in needed}


def _named(tree: Any) -> Iterator[str]:
    yield from named_traces(tree)
    yield from named_policies(tree)

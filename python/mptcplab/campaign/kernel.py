"""The missing runs of a campaign on the kernel, one after the other."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mptcplab.campaign.description import Campaign
from mptcplab.campaign.execute import RECORDINGS
from mptcplab.campaign.ledger import Ledger
from mptcplab.campaign.pending import identity
from mptcplab.campaign.record import Record, address, complete, failed
from mptcplab.campaign.worker import recording_folder
from mptcplab.engine.compile import compile_plan
from mptcplab.engine.job import Job, NullProgress, Task
from mptcplab.engine.kernel.engine import KernelEngine
from mptcplab.progress import Display
from mptcplab.recording import Recording, RecordingError, Status
from mptcplab.scenario import Scenario, ScenarioError
from mptcplab.scenario.points import at_point
from mptcplab.scenario.sweep import point

UNDER_WAY = "under-way"
"""Folder of the recording of the run that goes on, where samples are not kept."""


class KernelRuns:
    """Carries out runs of a campaign, one after the other: each wants the whole machine."""

    def __init__(
        self, scenario: Scenario, versions: Mapping[str, Any], folder: Path, *, samples: bool
    ) -> None:
        """Recordings are made in `folder`, and kept there with `samples`."""
        assert scenario.sweep is not None
        self._scenario = scenario
        self._axes = scenario.sweep.every_axis
        self._versions = versions
        self._folder = folder
        self._samples = samples
        self._engine: KernelEngine | None = None
        self._is_stopped = False

    def run(self, known: Record) -> Record | None:
        """The record of a run, as of `pending.identity` before; null where it was stopped."""
        try:
            scenario = at_point(self._scenario, point(self._axes, known["point"]))
            known["protocol"] = scenario.variants[known["variant"]].protocol
            record = self._measured(scenario, known)
        except ScenarioError as error:
            return failed(known, str(error.problems[0]), by_plan=True)
        return None if self._is_stopped else record

    def stop(self) -> None:
        """Ends the run that goes on, and those to come. From a signal's handler or a thread."""
        self._is_stopped = True
        if self._engine is not None:
            self._engine.stop()

    def _measured(self, scenario: Scenario, known: Record) -> Record | None:
        task = Task(scenario, known["variant"], known["repetition"], known["seed"])
        plan = compile_plan(scenario, task.variant, task.seed)
        told = plan.model_dump_json()
        known["address"] = address(told, task.variant, task.repetition, self._versions)
        folder = self._folder / UNDER_WAY
        if self._samples:
            folder = recording_folder(self._folder / RECORDINGS, known)
        # A kill leaves the recording of the run that went on.
        shutil.rmtree(folder, ignore_errors=True)
        self._engine = KernelEngine()
        if self._is_stopped:
            return None
        failures = self._engine.execute([Job(task, folder)], NullProgress())
        try:
            if failures:
                return failed(known, failures[0])
            recording = Recording.open(folder)
            if recording.manifest.status is not Status.COMPLETE:
                return None
            return complete(known, recording, plan)
        except RecordingError as error:
            return failed(known, str(error))
        finally:
            if not self._samples:
                shutil.rmtree(folder, ignore_errors=True)


class KernelCampaign:
    """Runs what is missing on this machine."""

    def __init__(self, scenario: Scenario, campaign: Campaign, ledger: Ledger, folder: Path):
        self._seed = campaign.result.seed
        self._ledger = ledger
        versions = campaign.versions.model_dump()
        self._runs = KernelRuns(scenario, versions, folder, samples=campaign.samples)

    def execute(self, display: Display | None, name: str) -> None:
        """Does what is missing.

        Raises:
            RecordingError: a record cannot be written.

        """
        for done, run in enumerate(self._ledger.missing()):
            if display is not None:
                place = self._ledger.found + done + 1
                display.show(f"{name} ({place}/{self._ledger.grid.runs})", float(done))
            record = self._runs.run(identity(self._ledger.grid, run, self._seed))
            if record is None:
                return
            self._ledger.add(run, json.dumps(record).encode())
            # The next one takes seconds.
            self._ledger.sync()

    def stop(self) -> None:
        """Ends the run that goes on, and begins nothing more. Comes from a signal's handler."""
        self._runs.stop()

"""The missing runs of a campaign on the kernel, one after the other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from mptcplab.campaign.description import Campaign
from mptcplab.campaign.execute import RECORDINGS, identity
from mptcplab.campaign.record import Record, address, complete, failed
from mptcplab.campaign.store import Ledger
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


class KernelCampaign:
    """Runs what is missing; each run wants the whole machine."""

    def __init__(self, scenario: Scenario, campaign: Campaign, ledger: Ledger, folder: Path):
        assert scenario.sweep is not None
        self._scenario = scenario
        self._axes = scenario.sweep.every_axis
        self._campaign = campaign
        self._ledger = ledger
        self._folder = folder
        self._engine: KernelEngine | None = None
        self._is_stopped = False

    def execute(self, display: Display | None, name: str) -> None:
        """Does what is missing.

        Raises:
            RecordingError: a record cannot be written.

        """
        for done, run in enumerate(self._ledger.missing()):
            if display is not None:
                place = self._ledger.found + done + 1
                display.show(f"{name} ({place}/{self._ledger.grid.runs})", float(done))
            record = self._run(identity(self._ledger.grid, run, self._campaign.result.seed))
            if self._is_stopped or record is None:
                return
            self._ledger.add(run, json.dumps(record).encode())

    def stop(self) -> None:
        """Ends the run that goes on, and begins nothing more. Comes from a signal's handler."""
        self._is_stopped = True
        if self._engine is not None:
            self._engine.stop()

    def _run(self, known: Record) -> Record | None:
        try:
            scenario = at_point(self._scenario, point(self._axes, known["point"]))
            known["protocol"] = scenario.variants[known["variant"]].protocol
            return self._measured(scenario, known)
        except ScenarioError as error:
            return failed(known, str(error.problems[0]))

    def _measured(self, scenario: Scenario, known: Record) -> Record | None:
        task = Task(scenario, known["variant"], known["repetition"], known["seed"])
        plan = compile_plan(scenario, task.variant, task.seed)
        versions = self._campaign.versions.model_dump()
        known["address"] = address(plan.model_dump_json(), task.variant, task.repetition, versions)
        folder = self._folder / UNDER_WAY
        if self._campaign.samples:
            folder = recording_folder(self._folder / RECORDINGS, known["address"])
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
            return complete(known, recording)
        except RecordingError as error:
            return failed(known, str(error))
        finally:
            if not self._campaign.samples:
                shutil.rmtree(folder, ignore_errors=True)

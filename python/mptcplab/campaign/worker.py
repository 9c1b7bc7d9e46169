"""The process in which the simulated runs of a campaign take place, one after the other.

    python -m mptcplab.campaign.worker

It reads JSON values from standard input, a line each: first what is run (`pending.setup`), then
batches of runs, each as `pending.identity` makes it, or `stop`. It answers with a line for each
run, its record, and `null` after each batch.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.engine.sim.protocol import STOP
from mptcplab.engine.sim.worker import Requests, tell
from mptcplab.shortage import ask, shortage_of

if TYPE_CHECKING:
    from mptcplab.campaign.record import Record
    from mptcplab.scenario import Scenario


class Runner:
    """Carries out runs of a campaign."""

    def __init__(self, setup: dict[str, Any], must_stop: Callable[[], bool]) -> None:
        self._scenario = loaded(setup["scenario"])
        self._versions = setup["versions"]
        self._samples = None if setup["samples"] is None else Path(setup["samples"])
        self._must_stop = must_stop
        self._point: tuple[int, Scenario] | None = None

    def run(self, identity: Record) -> Record | None:
        """The record of a run; null where it was stopped."""
        from mptcplab.campaign.record import failed
        from mptcplab.scenario import ScenarioError

        try:
            scenario = self._at(identity["point"])
            identity["protocol"] = scenario.variants[identity["variant"]].protocol
            return self._simulated(scenario, identity)
        except ScenarioError as error:
            return failed(identity, str(error.problems[0]), by_plan=True)

    def _at(self, number: int) -> Scenario:
        from mptcplab.scenario.points import at_point
        from mptcplab.scenario.sweep import point

        if self._point is None or self._point[0] != number:
            assert self._scenario.sweep is not None
            values = point(self._scenario.sweep.every_axis, number)
            self._point = number, at_point(self._scenario, values)
        return self._point[1]

    def _simulated(self, scenario: Scenario, identity: Record) -> Record | None:
        from mptcplab.campaign.record import address, complete, failed
        from mptcplab.engine.compile import compile_plan
        from mptcplab.engine.job import Task
        from mptcplab.engine.manifest import congestion_controls, manifest
        from mptcplab.engine.recorder import Recorder
        from mptcplab.engine.sim.record import simulated
        from mptcplab.recording import Recording, RecordingError, Status, Writer
        from mptcplab.recording.memory import MemoryWriter

        task = Task(scenario, identity["variant"], identity["repetition"], identity["seed"])
        plan = compile_plan(scenario, task.variant, task.seed)
        text = plan.model_dump_json()
        identity["address"] = address(text, task.variant, task.repetition, self._versions)
        settings = {"congestion_control": congestion_controls(plan)}
        described = manifest(task, plan, "sim", settings=settings)
        try:
            if self._samples is None:
                memory = MemoryWriter(described)
                why = simulated(text, Recorder(memory, lambda _: None), self._must_stop)
                recording = memory.recording()
            else:
                folder = recording_folder(self._samples, identity)
                # A kill between the recording and its record leaves the first.
                shutil.rmtree(folder, ignore_errors=True)
                files = Writer(folder, described)
                why = simulated(text, Recorder(files, lambda _: None), self._must_stop)
                recording = Recording.open(folder)
            if why is not None:
                return failed(identity, why, by_plan=True)
            if recording.manifest.status is Status.INTERRUPTED:
                return None
            return complete(identity, recording, plan)
        except RecordingError as error:
            return failed(identity, str(error))


def loaded(scenario: dict[str, Any]) -> Scenario:
    """The scenario as `pending.setup` describes it."""
    # Large libraries, which are loaded where there is room for them only.
    from mptcplab.scenario import loads

    folder = Path(scenario["folder"])
    return loads(scenario["text"], scenario["origin"], folder, default_name=scenario["name"])


def recording_folder(recordings: Path, run: Record) -> Path:
    """The folder of the recording of a run: that of its point is laid out as a result is."""
    folder = recordings_of_point(recordings, run["point"])
    return folder / str(run["variant"]) / str(run["repetition"])


def recordings_of_point(recordings: Path, number: int) -> Path:
    """The folder of the recordings of a point."""
    return recordings / f"{number:06}"


def main() -> None:
    """Carries out batches until there are no more."""
    ask()
    requests = Requests(sys.stdin.fileno())
    setup = requests.wait()
    if setup is None:
        return
    runner = Runner(setup, requests.must_stop)
    tell("ready")
    while (batch := requests.wait()) is not None:
        if batch == STOP:
            continue
        for known in batch:
            if requests.must_stop():
                break
            made = runner.run(known)
            if made is not None:
                tell(made)
        tell(None)


if __name__ == "__main__":
    try:
        main()
    except BaseException as error:
        reason = shortage_of(error)
        if reason is None:
            raise
        tell(reason)
        os._exit(1)

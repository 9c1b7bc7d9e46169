"""The explanation of a result: which recording it is of, and the file that keeps it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from mptcplab.explanation.explaining import explain_recording
from mptcplab.explanation.kept import keep, kept
from mptcplab.explanation.told import Explanation
from mptcplab.explanation.trials import Follow
from mptcplab.metrics import measure
from mptcplab.recording import Recording, RecordingError, Result
from mptcplab.recording.manifest import MANIFEST
from mptcplab.recording.result import RESULT
from mptcplab.scenario import Scenario, loads_kept


def explain_result(
    result: Result,
    *,
    workers: int | None = None,
    remedies: bool = True,
    trials: bool = True,
    follow: Follow | None = None,
) -> Explanation:
    """Explains the variant over MPTCP with the lowest goodput, in its first repetition.

    Raises:
        RecordingError: it has none, or a table is missing or damaged.
        ScenarioError: this version cannot read its scenario.
        EngineError: a trial failed.

    """
    recording = worst(result)
    scenario = scenario_of(recording)
    return explain_recording(
        recording, scenario, workers=workers, remedies=remedies, trials=trials, follow=follow
    )


def explain_and_keep(
    result: Result, *, workers: int | None = None, follow: Follow | None = None
) -> Explanation:
    """The explanation that the result's folder keeps; explains the result where it keeps none.

    Raises:
        RecordingError: as `explain_result`; or the file is damaged, or cannot be written.
        ScenarioError: as `explain_result`.
        EngineError: as `explain_result`.

    """
    told = kept(result.folder)
    if told is None:
        told = explain_result(result, workers=workers, follow=follow)
        keep(result.folder, told)
    return told


def opened(folder: str | PathLike[str]) -> Result:
    """The result in a folder; or the recording in it, which may lie in a result, alone.

    Raises:
        RecordingError: there is neither, or it is damaged.

    """
    place = Path(folder)
    is_recording = not (place / RESULT).is_file() and (place / MANIFEST).is_file()
    return Result.of_recording(place) if is_recording else Result.open(place)


def worst(result: Result) -> Recording:
    """The first repetition of the variant over MPTCP with the lowest goodput.

    Raises:
        RecordingError: there is none, or one is damaged.

    """
    names = [one.name for one in result.variants if one.protocol == "mptcp"]
    found = [recordings[0] for name in names if (recordings := result.recordings(name))]
    if not found:
        raise RecordingError(
            f"{result.folder}: has no recording of a variant over MPTCP: nothing to explain"
        )
    if len(found) == 1:
        return found[0]
    return min(found, key=lambda one: measure(one).metrics.get("goodput") or 0.0)


def scenario_of(recording: Recording) -> Scenario | None:
    """The scenario of the result in which a recording lies; null where it lies in none.

    Raises:
        RecordingError: it is of real hosts, of which there is no scenario.
        ScenarioError: this version cannot read it.

    """
    if recording.manifest.measured is not None:
        raise RecordingError(
            f"{recording.folder}: is of real hosts, of whose network nothing can be tried in the "
            "simulator: `mptcplab trace --explain` explains captures of them"
        )
    result = result_of(recording)
    return None if result is None else loads_kept(result.description.scenario.text)


def result_of(recording: Recording) -> Result | None:
    """The result in which a recording lies; null where it lies in none."""
    folder: Path = recording.folder.resolve().parent.parent
    return Result.open(folder) if (folder / RESULT).is_file() else None

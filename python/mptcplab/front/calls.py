"""Functions for programs and notebooks: `import mptcplab as lab`, then `lab.run` and the others.

A function here does what a command does, with the same names and defaults.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mptcplab.front.asked import asked, call_text, engine_called, in_python
from mptcplab.interruption import Interruption
from mptcplab.recording import Recording, RecordingError, Result
from mptcplab.recording.result import RESULT
from mptcplab.scenario import Scenario, ScenarioError
from mptcplab.session import Prepared, Settings, execute, fresh_folder, load_known, prepare

if TYPE_CHECKING:
    from mptcplab.engine.job import Job
    from mptcplab.explanation import Explanation
    from mptcplab.front.sweeps import Sweep
    from mptcplab.progress import RunProgress
    from mptcplab.trace import Trace

Folder = str | PathLike[str]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a session early; what was measured until then has been written."""

    def __init__(self, result: Result | Sweep, opens: str = "open") -> None:
        kept = f"mptcplab.{opens}({str(result.folder)!r})"
        super().__init__(f"what was measured until then is kept: {kept}")
        self.result = result
        """Holds what was measured."""


def load(scenario: str | PathLike[str]) -> Scenario:
    """Loads a scenario: a name of the catalogue, or a YAML file.

    Raises:
        ScenarioError: it has problems; all of them are told.

    """
    return load_known(scenario)


def open(folder: Folder) -> Result:  # noqa: A001
    """Opens the result in a folder.

    Raises:
        RecordingError: the folder is not a result, or its `result.json` is damaged.

    """
    return Result.open(folder)


def read_trace(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    packets: bool = True,
    checksums: bool = False,
    workers: int | None = None,
    tables: str | PathLike[str] | None = None,
) -> Trace:
    """Analyses captures that belong together; see `mptcplab.trace.read`.

    Raises:
        TraceError: a file cannot be read at all, or the tables cannot be written.

    """
    from mptcplab.trace import read

    return read(files, packets=packets, checksums=checksums, workers=workers, tables=tables)


def explain(
    result: Result | Recording | Folder,
    *,
    remedies: bool = True,
    workers: int | None = None,
) -> Explanation:
    """Says why MPTCP was as slow as it was, and which single changes help.

    Causes and changes are tried in the simulator; see docs/howto/explain.md.

    Args:
        result: A result, of which the variant over MPTCP with the lowest goodput is explained, in
            its first repetition; or one of its recordings; or the folder of either.
        remedies: Whether to look for changes that help, which takes longest.
        workers: Simulations at once; one a core unless given.

    Raises:
        RecordingError: there is no recording of MPTCP, or one is damaged.
        ScenarioError: this version cannot read the result's scenario.
        EngineError: a trial failed.

    """
    from mptcplab.explanation import explain_recording
    from mptcplab.explanation.of_result import scenario_of, worst

    if isinstance(result, Recording):
        recording = result
    else:
        recording = worst(result if isinstance(result, Result) else Result.open(result))
    return explain_recording(recording, scenario_of(recording), remedies=remedies, workers=workers)


def run(
    scenario: Scenario | str | PathLike[str],
    *,
    engine: str = "auto",
    variants: str | Sequence[str] | None = None,
    repeat: int | None = None,
    seed: int = 1,
    duration: str | None = None,
    vary: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    capture: bool = False,
    workers: int | None = None,
    out: Folder | None = None,
    replace: bool = False,
    progress: bool = True,
) -> Result:
    """Runs variants of a scenario, each several times, into one result.

    Args:
        scenario: A scenario, a name of the catalogue, or a YAML file.
        engine: `kernel` (the real stack), `sim` (virtual time), or `auto`: the kernel if it can.
        variants: Names of variants; all of them unless given.
        repeat: Repetitions of each variant; as the scenario says unless given.
        seed: Seed of all that is random.
        duration: Duration of every bulk transfer, such as `"10 s"`.
        vary: What each repetition draws by its seed: `{"start": "50 ms"}`.
        set: Values at dotted paths: `{"links.wifi.rate": "20 Mbit/s"}`.
        capture: Whether to write a pcapng file of each host's interface.
        workers: Runs at once; unless given one a core if simulated, one on the kernel.
        out: Folder of the result; a fresh one under `out/` unless given.
        replace: Whether a result that is in `out` already is removed.
        progress: Whether a session of more than some seconds says how far it is, on standard error.

    Raises:
        ScenarioError: the scenario has problems, or no engine can run it as asked.
        RecordingError: the folder is taken, or cannot be written.
        EngineError: a run failed; what was measured until then has been written.
        Interrupted: Ctrl-C; its `result` holds what was measured until then.

    """
    settings = asked(
        engine=engine,
        variants=variants,
        repeat=repeat,
        seed=seed,
        duration=duration,
        vary=vary,
        set=set,
        capture=capture,
        workers=workers,
    )
    prepared = prepared_for(scenario, settings)
    folder = fresh_folder(prepared.scenario.name) if out is None else room(out, RESULT, replace)
    command = call_text("run", scenario, locals())
    (result,) = carried_out([(prepared, folder)], settings, command, progress=progress)
    return result


def prepared_for(scenario: Scenario | str | PathLike[str], settings: Settings) -> Prepared:
    """Prepares a scenario that the caller named.

    Raises:
        ScenarioError: it cannot be run so; speaks of the arguments.

    """
    try:
        own = scenario if isinstance(scenario, Scenario) else load_known(scenario)
        return prepare(own, settings)
    except ScenarioError as error:
        raise in_python(error) from None


def carried_out(
    parts: Sequence[tuple[Prepared, Path]], settings: Settings, command: str, *, progress: bool
) -> list[Result]:
    """Runs prepared scenarios, each into its folder, and opens the results, in order.

    Raises:
        RecordingError: as `run`.
        EngineError: as `run`.
        Interrupted: as `run`; its result is the last one that was begun.

    """
    from mptcplab.engine.job import EngineError
    from mptcplab.progress import Lines, RunProgress

    def followed(planned: Sequence[Job], name: str) -> RunProgress:
        return RunProgress(planned, name, Lines(len(planned)) if progress else None)

    if progress and sys.stderr is not None:
        for note in dict.fromkeys(note for one, _ in parts for note in one.notes):
            print(note, file=sys.stderr)
    made: dict[Path, Result] = {}
    interruption = Interruption()
    with interruption.listening(held_signals()):
        for engine in dict.fromkeys(engine_called(one) for one, _ in parts):
            own = [part for part in parts if engine_called(part[0]) == engine]
            try:
                results, failures = execute(
                    engine,
                    own,
                    settings,
                    command=[command],
                    followed=followed,
                    interruption=interruption,
                )
            except ScenarioError as error:
                raise in_python(error) from None
            made |= {result.folder: result for result in results}
            if failures:
                told = "\n".join(dict.fromkeys(failures))
                where = own[0][1] if len(parts) == 1 else own[0][1].parent
                raise EngineError(f"{told}\nwhat was measured until then: {where}")
            if interruption.requested:
                raise Interrupted(results[-1])
    return [made[folder] for _, folder in parts]


def room(out: Folder, mark: str, replace: bool, *, is_resumed: bool = False) -> Path:
    """The folder `out`, in which nothing is, or has been removed that the file `mark` names.

    Where what `mark` names can be taken up again it is left there, unless it is to be replaced.

    Raises:
        RecordingError: it holds something that is not to be removed.

    """
    folder = Path(fspath(out))
    try:
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return folder
        if is_resumed and not replace and (folder / mark).is_file():
            return folder
        if not replace:
            raise RecordingError(
                f"{folder}: is there already: choose another folder, or replace=True"
            )
        if not (folder / mark).is_file():
            raise RecordingError(
                f"{folder}: holds no {mark}, so it is not replaced: choose another folder"
            )
        shutil.rmtree(folder)
    except OSError as error:
        raise RecordingError(f"{folder}: cannot be replaced: {error.strerror}") from error
    return folder


def held_signals() -> list[signal.Signals]:
    """Ctrl-C, where it would end the caller; a handler of the caller's own is left alone."""
    if threading.current_thread() is not threading.main_thread():
        return []
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    return [signal.SIGINT] if usual else []

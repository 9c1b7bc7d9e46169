"""Results in the form of the lab's: one results folder of what an agent measured by a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mptcplab.recording import Description, Manifest, RecordingError, Status, Writer
from mptcplab.recording.manifest import Measured
from mptcplab.recording.result import Result as Folder
from mptcplab.recording.result import ScenarioEntry, VariantEntry
from mptcplab.server import intake
from mptcplab.server.addresses import without_addresses
from mptcplab.server.export import ExportError
from mptcplab.server.measured_rows import Taken, taken
from mptcplab.server.result import Result
from mptcplab.server.store import agents, results
from mptcplab.server.store.connection import reading
from mptcplab.server.store.database import Connection
from mptcplab.server.wanted import Wanted, every

ENGINE = "agent"
"""In the place of the lab's engines."""
BUSY = "the agent's host was too busy: the figures may be the host's rather than the network's"
_MOST_NAMED = 5
_ORDER = ("tcp", "mptcp", "at-once", "idle", "loaded")


@dataclass
class Exported:
    """Numbers of what was exported."""

    results: int = 0
    empty: int = 0
    """Results of which there is no recording."""
    recordings: int = 0
    is_whole: bool = False
    """False where it was ended early, and the folder has no `result.json`."""


def export_recordings(
    connection: Connection,
    folder: Path,
    wanted: Wanted,
    *,
    goes_on: Callable[[], bool],
    addresses: bool = True,
    command: Sequence[str] = (),
) -> Exported:
    """Writes a recording for each repetition of each way to measure, and then `result.json`.

    Repetitions are counted through all experiments, so that what was measured in the same one has
    the same number. It ends early once `goes_on` says no. Without `addresses` there are numbers in
    their place. `command` is what stands in the folder as what made it.

    Raises:
        ExportError: there are no such results, they are of several agents, plans or congestion
            controls, or the folder holds something or cannot be written.

    """
    with reading(connection):
        agent, plan = _source(connection, wanted)
        made = _Making(folder, None if addresses else {})
        try:
            if folder.is_dir() and any(folder.iterdir()):
                raise ExportError(f"{folder}: it holds something: name another folder")
            for row in every(connection, wanted):
                if not goes_on():
                    return made.exported
                content = results.content(connection, row["id"])
                assert content is not None
                made.add(intake.read_kept(content)[0])
            made.finish(plan, agent, command)
        except (OSError, RecordingError) as error:
            raise ExportError(str(error)) from None
    return made.exported


def _source(connection: Connection, wanted: Wanted) -> tuple[str, str]:
    """The name of the only agent, and the id of the only plan."""
    found = {
        (row["agent"], row["plan"], row["congestion_control"]) for row in every(connection, wanted)
    }
    if not found:
        raise ExportError("there are no such results")
    names = {row["id"]: row["name"] for row in agents.listed(connection)}
    agent = _only("agent", {f"{agent} ({names[agent]})": names[agent] for agent, _, _ in found})
    plan = _only("plan", {plan: plan for _, plan, _ in found})
    # A plan has them of names alone, or that of the systems alone.
    _only("congestion control", {str(control): str(control) for _, _, control in found})
    return agent, plan


def _only(what: str, found: dict[str, str]) -> str:
    if len(found) == 1:
        return next(iter(found.values()))
    named = sorted(found)[:_MOST_NAMED]
    more = ", …" if len(found) > len(named) else ""
    told = ", ".join(named) + more
    option = what.replace(" ", "-")
    raise ExportError(f"the results are of {len(found)} {what}s: choose one by --{option}: {told}")


class _Making:
    """A results folder in the making."""

    def __init__(self, folder: Path, known: dict[str, str] | None) -> None:
        """`known` are the addresses that have a number; null: they stay."""
        self.exported = Exported()
        self._folder = folder
        self._known = known
        self._variants: dict[str, tuple[Measured, VariantEntry]] = {}
        self._before = 0
        self._target = ""
        self._seed = 0

    def add(self, result: Result) -> None:
        """Writes the recordings of a result."""
        self.exported.results += 1
        # As for its page: of a step that is there twice, the last one counts.
        found = {(one.variant, one.repetition): one for one in taken(result)}
        if not found:
            self.exported.empty += 1
            return
        self._target = f"{result.target.host}, port {result.target.port}"
        self._seed = result.seed
        for one in found.values():
            self._write(result, one)
        self._before += max(repetition for _, repetition in found) + 1

    def finish(self, plan: str, agent: str, command: Sequence[str]) -> None:
        """Writes the description, by which it is a results folder."""
        if not self._variants:
            raise ExportError("the results have no measurements: their experiments brought nothing")
        entries = sorted(self._variants.values(), key=lambda one: _place(one[0]))
        scenario = ScenarioEntry(
            name=plan,
            title=self._told(f"measured by {agent} against {self._target}"),
            text="",
            variants=tuple(entry for _, entry in entries),
        )
        described = Description(
            scenario=scenario,
            engine=ENGINE,
            seed=self._seed,
            repetitions=self._before,
            command=tuple(command),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        Folder.create(self._folder, described)
        self.exported.is_whole = True

    def _write(self, result: Result, one: Taken) -> None:
        entry = VariantEntry(name=one.variant, protocol=one.protocol)
        self._variants.setdefault(one.variant, (one.measured, entry))
        repetition = self._before + one.repetition + 1
        manifest = Manifest(
            status=Status.RUNNING,
            scenario=result.plan,
            variant=one.variant,
            protocol=one.protocol,
            repetition=repetition,
            seed=result.seed,
            engine=ENGINE,
            started=_date(result.began_unix_ms),
            mptcplab=result.host.version,
            kernel=result.host.kernel,
            host=_host(result),
            settings=_settings(result),
            measured=one.measured,
            warnings=tuple(self._told(text) for text in _warnings(result, one)),
        )
        writer = Writer(self._folder / one.variant / str(repetition), manifest)
        for table, values in one.rows:
            writer.row(table, self._told(values))
        writer.finish(Status.COMPLETE if one.problem is None else Status.FAILED, None)
        self.exported.recordings += 1

    def _told(self, value: Any) -> Any:
        return value if self._known is None else without_addresses(value, self._known)


def _place(one: Measured) -> tuple[object, ...]:
    """Where a variant stands: transfers first, the smallest first, and beside their like."""
    path = -1 if one.path is None else one.paths.index(one.path)
    return one.bytes is None, one.way or "", one.bytes or 0, _ORDER.index(one.kind), path, one.paths


def _host(result: Result) -> dict[str, object]:
    host = result.host
    return {
        "cores": host.processors,
        "load_1m": host.load_1m,
        "busy": host.busy,
        "steal": host.steal,
    }


def _settings(result: Result) -> dict[str, object]:
    control = result.congestion_control
    return {} if control is None else {"congestion_control": [control]}


def _warnings(result: Result, one: Taken) -> Iterable[str]:
    if one.problem is not None:
        yield one.problem
    if one.warning is not None:
        yield one.warning
    if result.host.starved:
        yield BUSY
    if result.outcome == "partial":
        yield f"its experiment ended early: {intake.sentence(result).removesuffix('.')}"


def _date(unix_ms: int) -> str | None:
    """Null where no calendar has it."""
    try:
        return datetime.fromtimestamp(unix_ms // 1_000, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None

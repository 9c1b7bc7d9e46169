"""The description of a campaign: its file, and whether a folder holds the same one."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from mptcplab import __version__, _native
from mptcplab.campaign.grid import Grid
from mptcplab.policy.source import is_policy_file
from mptcplab.recording import RecordingError
from mptcplab.recording.files import publish, sync
from mptcplab.recording.manifest import Model, dump, load
from mptcplab.recording.result import Description
from mptcplab.scenario import Scenario
from mptcplab.scenario.difference import of_tree
from mptcplab.scenario.entries import CATALOGUE_SUFFIX, catalogue_folder
from mptcplab.scenario.points import count_points
from mptcplab.scenario.sweep import Axis, Sweep
from mptcplab.scenario.tree import parse_tree

SWEEP = "sweep.json"
NOT_OF_FIGURES = {"cli", "front", "report", "reproduction", "scenarios", "subflow", "trace"}
"""Parts of the package on which no record of a run depends."""


class Versions(Model):
    """Versions that decide on the figures of a run, beside its plan."""

    mptcplab: str
    extension: str
    """SHA-256 of the extension module: the simulator, the lab process."""
    code: str | None = None
    """SHA-256 of the modules that make plans, metrics and tables; null in older sweeps."""
    kernel: str | None = None
    """Release of the kernel, on the kernel engine."""


class Campaign(Model):
    """The content of ``sweep.json``."""

    format: Literal[3] = 3
    result: Description
    """Of which the scenario's text has `sweep` with the axes that are run."""
    samples: bool
    """Whether each run has a recording with all tables."""
    versions: Versions
    source: str
    """The scenario as `mptcplab run` takes it: a name of the catalogue, or a file."""
    overrides: dict[str, Any]
    """Dotted path → value of what was changed of that, but for the axes."""
    traces: dict[str, str]
    """Rate trace as named in the scenario → SHA-256 of its file."""
    policies: dict[str, str] = Field(default_factory=dict)
    """File of a policy in Python as named in the scenario → its SHA-256."""

    def axes(self) -> tuple[Axis, ...]:
        """The axes that are run."""
        tree = parse_tree(self.result.scenario.text, SWEEP).value
        return Sweep.model_validate(tree["sweep"]).every_axis

    def grid(self) -> Grid:
        """The runs."""
        names = tuple(variant.name for variant in self.result.scenario.variants)
        axes = self.axes()
        draws = next((len(axis.rows) for axis in axes if axis.is_drawn), 1)
        return Grid(count_points(axes), self.result.repetitions, names, draws)


def versions(engine: str) -> Versions:
    """Those of this installation and this machine."""
    extension = Path(str(_native.__file__)).read_bytes()
    return Versions(
        mptcplab=__version__,
        extension=hashlib.sha256(extension).hexdigest(),
        code=_code(),
        kernel=platform.release() if engine == "kernel" else None,
    )


def _code() -> str:
    """The hash of the package's modules, and of the data beside them; 13 ms."""
    package = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(package.rglob("*")):
        place = path.relative_to(package)
        if path.suffix in (".py", ".yaml") and place.parts[0] not in NOT_OF_FIGURES:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found.update(f"{place} {content}\n".encode())
    return found.hexdigest()


def described(scenario: Scenario, result: Description, *, samples: bool) -> Campaign:
    """The description of a campaign of a scenario that has a sweep."""
    return Campaign(
        result=result,
        samples=samples,
        versions=versions(result.engine),
        source=_source(scenario),
        overrides={path: value for path, value in scenario.overrides.items() if path != "sweep"},
        traces=dict(_hashes(scenario, named_traces(scenario.provenance.tree))),
        policies=dict(_hashes(scenario, named_policies(scenario.provenance.tree))),
    )


def opened(folder: Path) -> Campaign:
    """The description in a folder.

    Raises:
        RecordingError: the folder holds no sweep, or a damaged one.

    """
    if not (folder / SWEEP).is_file():
        raise RecordingError(f"{folder}: not a sweep: it holds no {SWEEP}")
    campaign = load(Campaign, folder / SWEEP)
    try:
        campaign.axes()
    except (ValueError, LookupError, TypeError) as error:
        raise RecordingError(f"{folder / SWEEP}: the axes are damaged") from error
    return campaign


def begun(folder: Path, campaign: Campaign) -> None:
    """Describes the campaign in its folder, or finds that it holds the same one.

    Raises:
        RecordingError: the folder holds something else, or cannot be written.

    """
    if not (folder / SWEEP).exists():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            occupied = next(folder.iterdir(), None)
        except OSError as error:
            raise RecordingError(f"{folder}: cannot be made: {error.strerror}") from error
        if occupied is not None:
            raise RecordingError(
                f"{folder}: holds {occupied.name} and no sweep: choose another folder"
            )
        publish(folder / SWEEP, dump(campaign))
        sync(folder / SWEEP)
        sync(folder)
        # A folder among those of others may be one that lists them to nobody.
        if os.access(folder.absolute().parent, os.R_OK):
            sync(folder.absolute().parent)
        return
    other = next(_unlike(opened(folder), campaign), None)
    if other is not None:
        raise RecordingError(f"{folder}: holds another sweep: {other}: choose another folder")


def _unlike(there: Campaign, here: Campaign) -> Iterator[str]:
    """In what two campaigns differ that decides on the runs, the most telling first."""
    trees = [parse_tree(one.result.scenario.text, SWEEP).value for one in (there, here)]
    sweeps = [tree["sweep"] for tree in trees]
    if sweeps[0] != sweeps[1]:
        keys = [", ".join(key for axis in one.axes() for key in axis.keys) for one in (there, here)]
        yield f"its axes are {keys[0]}" if keys[0] != keys[1] else "its axes have other values"
    before, after = (of_tree(tree) for tree in trees)
    for path in dict.fromkeys([*before, *after]):
        if before.get(path) != after.get(path):
            yield f"{'.'.join(path)} is {before.get(path)} there and {after.get(path)} here"
    for words, first, second in (
        ("the engine is", there.result.engine, here.result.engine),
        ("the variants are", _names(there), _names(here)),
        ("the repetitions are", there.result.repetitions, here.result.repetitions),
        ("the seed is", there.result.seed, here.result.seed),
        ("samples are", _kept(there), _kept(here)),
        ("the version is", there.versions.mptcplab, here.versions.mptcplab),
        ("the kernel is", there.versions.kernel, here.versions.kernel),
    ):
        if first != second:
            yield f"{words} {first} there and {second} here"
    if there.versions.extension != here.versions.extension:
        yield "it was made by another build of the extension module"
    if there.versions.code != here.versions.code:
        yield "it was made by other modules of mptcplab"
    if there.traces != here.traces:
        yield "a rate trace has changed since"
    if there.policies != here.policies:
        yield "the file of a policy has changed since"


def _source(scenario: Scenario) -> str:
    entry = catalogue_folder() / f"{scenario.name}{CATALOGUE_SUFFIX}"
    is_entry = entry.is_file() and Path(scenario.origin).resolve() == entry.resolve()
    return scenario.name if is_entry else scenario.origin


def _names(campaign: Campaign) -> str:
    return ", ".join(variant.name for variant in campaign.result.scenario.variants)


def _kept(campaign: Campaign) -> str:
    return "kept" if campaign.samples else "not kept"


def _hashes(scenario: Scenario, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys(names):
        path = scenario.folder / name
        if path.is_file():
            yield name, hashlib.sha256(path.read_bytes()).hexdigest()


def named_traces(tree: Any) -> Iterator[str]:
    """The texts at keys that end in `trace` or `file`, those of axes included."""
    yield from _texts(tree, ("trace", "file"))


def named_policies(tree: Any) -> Iterator[str]:
    """The files of the policies at keys that end in `controller` or `policy`, likewise."""
    for text in _texts(tree, ("controller", "policy")):
        if is_policy_file(text):
            yield text.rpartition(":")[0]


def _texts(tree: Any, keys: Collection[str], key: str = "") -> Iterator[str]:
    """The texts at keys whose last part is one of these."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from _texts(value, keys, key if name in ("values", "choice") else str(name))
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts(value, keys, key)
    elif isinstance(tree, str) and key.split(".")[-1] in keys:
        yield tree

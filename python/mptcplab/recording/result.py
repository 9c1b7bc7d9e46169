"""A result: all recordings of one run of a scenario."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from mptcplab import lazy
from mptcplab.recording.errors import RecordingError
from mptcplab.recording.files import publish
from mptcplab.recording.manifest import MANIFEST, RUNNING, Model, dump, load

if TYPE_CHECKING:
    from mptcplab.recording.reader import Recording

RESULT = "result.json"


class VariantEntry(Model):
    """A variant of the scenario."""

    name: str
    protocol: Literal["tcp", "mptcp"]


class Reference(Model):
    """A figure of the document that the scenario reproduces."""

    variant: str
    metric: str
    value: float
    unit: str
    note: str = ""


class Change(Model):
    """A setting that is not the scenario's own."""

    path: str
    """Dotted, as for `--set`; `duration` for all that `--duration` changes."""
    own: str | None
    """The scenario's value; null where it has none."""
    here: str | None
    """The value of the run; null where it was taken away."""


class ScenarioEntry(Model):
    """The scenario as it was read."""

    name: str
    title: str = ""
    source: str = ""
    text: str
    """The YAML text, with the overrides of the command line applied."""
    changes: tuple[Change, ...] = ()
    """Changes of it: by the command line, or against the catalogue's entry of its name."""
    variants: tuple[VariantEntry, ...]
    expect: tuple[str, ...] = ()
    notes: dict[str, str] = Field(default_factory=dict)
    """Finding → why it does not hold, where it does not."""
    reference: tuple[Reference, ...] = ()


class Description(Model):
    """The content of ``result.json``."""

    format: Literal[1] = 1
    scenario: ScenarioEntry
    engine: str
    seed: int
    repetitions: int = Field(ge=1)
    command: tuple[str, ...] = ()
    created: str
    """ISO 8601, UTC."""


@dataclass(frozen=True, repr=False)
class Result:
    """A folder with ``result.json`` and recordings ``VARIANT/REPETITION``.

    ``result["mptcp"]`` is the list of a variant's recordings; the names are what it iterates over.
    """

    folder: Path
    description: Description
    is_one_recording: bool = False
    """The folder is itself the only recording, as ``mptcplab.engine.run`` makes one."""

    @classmethod
    def create(cls, folder: str | PathLike[str], description: Description) -> Result:
        """Makes ``folder`` and writes its ``result.json``.

        Raises:
            RecordingError: the folder cannot be made, or is a result already.

        """
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordingError(f"{folder}: cannot be made: {error.strerror}") from error
        publish(folder / RESULT, dump(description))
        return cls(folder, description)

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Result:
        """Opens the result in ``folder``; a recording by itself is one with one run.

        Raises:
            RecordingError: the folder is not a result, or its ``result.json`` is damaged.

        """
        folder = Path(folder)
        if not folder.is_dir():
            raise RecordingError(f"{folder}: no such folder; give the folder of a result")
        if not (folder / RESULT).is_file():
            if not _is_recording(folder):
                raise RecordingError(f"{folder}: not a result: it holds no {RESULT}")
            whole = folder.absolute().parent.parent
            if (whole / RESULT).is_file():
                hint = f"it is one recording; give the result that holds it, {whole}"
                raise RecordingError(f"{folder}: not a result: {hint}")
            return cls.of_recording(folder)
        return cls(folder, load(Description, folder / RESULT))

    @classmethod
    def of_recording(cls, folder: str | PathLike[str]) -> Result:
        """The recording in ``folder`` alone, wherever it lies, as a result with one run.

        Raises:
            RecordingError: there is none, or it is damaged.

        """
        from mptcplab.recording.reader import Recording

        return cls(Path(folder), _described(Recording.open(folder)), is_one_recording=True)

    @property
    def variants(self) -> tuple[VariantEntry, ...]:
        """The variants of the scenario, in its order."""
        return self.description.scenario.variants

    def __getitem__(self, variant: str) -> list[Recording]:
        """The recordings of a variant that exist, by repetition.

        Raises:
            KeyError: there is no such variant.
            RecordingError: a recording is damaged.

        """
        if variant not in self:
            raise KeyError(f"{variant!r}: the variants are {', '.join(self)}")
        return self.recordings(variant)

    def __iter__(self) -> Iterator[str]:
        return (variant.name for variant in self.variants)

    def __len__(self) -> int:
        return len(self.variants)

    def __contains__(self, variant: object) -> bool:
        return any(variant == name for name in self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        told = self.description
        names = ", ".join(self)
        return f"<Result of {told.scenario.name} ({told.engine}): {names}, in {self.folder}>"

    def _repr_html_(self) -> str:
        shown: str = lazy.call("mptcplab.report.notebook.of_result", self)
        return shown

    def recording_folder(self, variant: str, repetition: int) -> Path:
        """Where the recording of a variant's repetition (from 1) is or goes."""
        return self.folder if self.is_one_recording else self.folder / variant / str(repetition)

    def recordings(self, variant: str) -> list[Recording]:
        """The recordings of a variant that exist, by repetition.

        Raises:
            RecordingError: one of them is damaged.

        """
        # Tables are slow to load, and not needed to make a result.
        from mptcplab.recording.reader import Recording

        return [
            Recording.open(self.recording_folder(variant, repetition))
            for repetition in self._begun(variant)
            if self._has_manifest(variant, repetition)
        ]

    def without_manifest(self, variant: str) -> list[int]:
        """The repetitions of a variant that have a folder but no manifest in it."""
        return [one for one in self._begun(variant) if not self._has_manifest(variant, one)]

    def _begun(self, variant: str) -> list[int]:
        if self.is_one_recording:
            return [1]
        names = (path.name for path in (self.folder / variant).glob("*"))
        return sorted(int(name) for name in names if name.isdecimal())

    def _has_manifest(self, variant: str, repetition: int) -> bool:
        return _is_recording(self.recording_folder(variant, repetition))


def _is_recording(folder: Path) -> bool:
    return (folder / MANIFEST).exists() or (folder / RUNNING).exists()


def _described(recording: Recording) -> Description:
    """Settings that a recording holds of its scenario, without the text."""
    told = recording.manifest
    return Description(
        scenario=ScenarioEntry(
            name=told.scenario,
            text="",
            variants=(VariantEntry(name=told.variant, protocol=told.protocol),),
        ),
        engine=told.engine,
        seed=told.seed,
        repetitions=1,
        created=told.started or "",
    )


def open_results(folders: Iterable[str | PathLike[str]]) -> Sequence[Result]:
    """Opens several results, in the order given.

    Raises:
        RecordingError: one of them is not a result.

    """
    return [Result.open(folder) for folder in folders]

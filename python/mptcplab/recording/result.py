"""A result: all recordings of one run of a scenario."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from mptcplab.recording.errors import RecordingError
from mptcplab.recording.files import publish
from mptcplab.recording.manifest import MANIFEST, RUNNING, Model, dump, load
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


class ScenarioEntry(Model):
    """The scenario as it was read."""

    name: str
    title: str = ""
    source: str = ""
    text: str
    """The YAML text, with the overrides of the command line applied."""
    variants: tuple[VariantEntry, ...]
    expect: tuple[str, ...] = ()
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


@dataclass(frozen=True)
class Result:
    """A folder with ``result.json`` and recordings ``VARIANT/REPETITION``."""

    folder: Path
    description: Description

    @classmethod
    def create(cls, folder: Path, description: Description) -> "Result":
        """Makes ``folder`` and writes its ``result.json``.

        Raises:
            RecordingError: the folder cannot be made, or is a result already.

        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordingError(f"{folder}: cannot be made: {error.strerror}") from error
        publish(folder / RESULT, dump(description))
        return cls(folder, description)

    @classmethod
    def open(cls, folder: Path) -> "Result":
        """Opens the result in ``folder``.

        Raises:
            RecordingError: the folder is not a result, or its ``result.json`` is damaged.

        """
        if not folder.is_dir():
            raise RecordingError(f"{folder}: no such folder; give the folder of a result")
        if not (folder / RESULT).is_file():
            hint = f"it holds no {RESULT}"
            if (folder / MANIFEST).is_file() or (folder / RUNNING).is_file():
                hint = f"it is one recording; give the result that holds it, {folder.parent.parent}"
            raise RecordingError(f"{folder}: not a result: {hint}")
        return cls(folder, load(Description, folder / RESULT))

    @property
    def variants(self) -> tuple[VariantEntry, ...]:
        """The variants of the scenario, in its order."""
        return self.description.scenario.variants

    def recording_folder(self, variant: str, repetition: int) -> Path:
        """Where the recording of a variant's repetition (from 1) is or goes."""
        return self.folder / variant / str(repetition)

    def recordings(self, variant: str) -> list[Recording]:
        """The recordings of a variant that exist, by repetition.

        Raises:
            RecordingError: one of them is damaged.

        """
        parent = self.folder / variant
        numbers = [int(path.name) for path in parent.glob("*") if path.name.isdecimal()]
        folders = [parent / str(number) for number in sorted(numbers)]
        return [
            Recording.open(folder)
            for folder in folders
            if (folder / MANIFEST).exists() or (folder / RUNNING).exists()
        ]


def open_results(folders: Iterable[Path]) -> Sequence[Result]:
    """Opens several results, in the order given.

    Raises:
        RecordingError: one of them is not a result.

    """
    return [Result.open(folder) for folder in folders]

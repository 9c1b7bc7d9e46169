"""The manifest of a recording: what was run, where, and how it ended."""

from enum import StrEnum
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mptcplab.recording.errors import RecordingError
from mptcplab.user_file import FileError, read_bytes

MANIFEST = "manifest.json"
"""File of the manifest once the run has ended; appears last, after every table."""
RUNNING = "running.json"
"""File of the manifest while the run lasts."""

LARGEST_FILE_BYTES = 1 << 30
"""Of a JSON file; a plan holds every line of its rate traces."""

Json = dict[str, object]


class Status(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"
    """Ended by the user, or its lab is gone."""
    FAILED = "failed"


class Model(BaseModel):
    """A JSON object whose keys are all known and whose values never change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lab(Model):
    """The process that holds a running lab."""

    pid: int
    nodes: dict[str, int]
    """Node to the id of the thread that is inside it."""


class Measured(Model):
    """A measurement between real hosts: these, in place of a plan."""

    kind: Literal["tcp", "mptcp", "at-once", "idle", "loaded"]
    """A transfer by TCP over one path, by MPTCP, or by TCP over all paths at once; echoes on a path
    that carries nothing else, or beside a download."""
    paths: tuple[str, ...]
    """Those of the experiment, by interface."""
    path: str | None
    """The one that is measured alone."""
    way: Literal["up", "down"] | None
    bytes: int | None = Field(ge=1)
    """Of a transfer, all connections together."""
    longest_s: float = Field(gt=0, allow_inf_nan=False)
    """Time that it was given."""
    agent: str
    plan: str
    result: str
    """Ids of the server's: whose result it is of, by which plan, and which one."""


class Manifest(Model):
    """The content of ``manifest.json``; see ``docs/recording.md``."""

    format: Literal[1] = 1
    status: Status
    scenario: str
    variant: str
    protocol: Literal["tcp", "mptcp"]
    repetition: int = Field(ge=1)
    seed: int
    engine: str
    started: str | None = None
    """ISO 8601, UTC; null in virtual time, which has no date. Of a measurement between real hosts
    that of its experiment."""
    duration_s: float | None = Field(None, ge=0, allow_inf_nan=False)
    mptcplab: str
    """Version of mptcplab."""
    kernel: str | None = None
    host: Json = {}
    settings: Json = {}
    plan: Json = {}
    measured: Measured | None = None
    emulator: Json = {}
    """How the engine did: set-up and tear-down time, lateness of packets, real-time priority."""
    warnings: tuple[str, ...] = ()
    lab: Lab | None = None


M = TypeVar("M", bound=Model)


def dump(model: Model) -> bytes:
    """The model as the content of a file."""
    return (model.model_dump_json(indent=1) + "\n").encode()


def load(kind: type[M], path: Path) -> M:
    """Reads ``path`` as ``kind``.

    Raises:
        RecordingError: the file cannot be read or does not fit; names the key.

    """
    try:
        return kind.model_validate_json(read_bytes(path, LARGEST_FILE_BYTES))
    except FileError as error:
        raise RecordingError(f"{path}: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["loc"] == ("format",):
            known = isinstance(first["input"], int)
            told = f"format {first['input']}" if known else "its format"
            raise RecordingError(
                f"{path}: {told} is not one that this mptcplab reads (1); "
                "open it with the version that wrote it"
            ) from error
        where = f"{path}: {place}" if place else f"{path}"
        raise RecordingError(f"{where}: {first['msg']}; the file is damaged or foreign") from error

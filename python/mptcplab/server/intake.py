"""A result that arrives: checked, and its figures computed, once and here."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mptcplab.measure import plan as measure
from mptcplab.measure.figures import Figures, Measured, figures
from mptcplab.measure.passing import BothSettings, Settings
from mptcplab.measure.verdict import verdict
from mptcplab.server.figure_rows import FigureRow, figure_rows
from mptcplab.server.result import Path, Result
from mptcplab.server.strict_json import BodyError, parse

_LEVEL = 3
"""A third of the time of the usual level, for a fifth more space."""


@dataclass(frozen=True)
class Arrival:
    """All of a result that the database keeps."""

    result: Result
    sha256: bytes
    content: bytes
    """The exact bytes, compressed (zlib)."""
    size_bytes: int
    rows: tuple[FigureRow, ...]
    verdict: tuple[str, ...]
    """Sentences; of an experiment without steps its reason."""


def read(body: bytes) -> Arrival:
    """The result that a body holds. Pure: any thread or process may do it.

    Raises:
        BodyError: it holds none, or one that contradicts itself.

    """
    result = parse(Result, body)
    try:
        found = figures_of(result)
        rows = tuple(figure_rows(found))
        told = tuple(verdict(found)) if result.steps else (sentence(result),)
    except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError):
        # The models refuse all of these that are known; a result must not be asked for for ever.
        raise BodyError(422, "No figures can be computed: its accounts contradict it") from None
    return Arrival(
        result=result,
        sha256=hashlib.sha256(body).digest(),
        content=zlib.compress(body, _LEVEL),
        size_bytes=len(body),
        rows=rows,
        verdict=told,
    )


def read_kept(content: bytes) -> tuple[Result, bytes]:
    """The result and its exact bytes, of what the database keeps."""
    body = zlib.decompress(content)
    return parse(Result, body), body


def figures_of(result: Result) -> Figures:
    """The figures of `mptcplab probe`."""
    return figures(measured_of(result))


def measured_of(result: Result) -> Measured:
    """The result in the form that figures are computed from."""
    limit = result.target.rate_limit_bps
    return Measured(
        paths=tuple(
            measure.Path(name, path.source, path.device, path.index)
            for name, path in zip(path_labels(result.paths), result.paths, strict=True)
        ),
        sent_options=result.sent_options,
        endpoints=result.endpoints,
        rate_limit_mbps=None if limit is None else limit / 1e6,
        done=[
            (
                measure.Step(
                    step.kind,
                    step.repetition,
                    step.path,
                    step.direction,
                    step.size_bytes,
                    step.begin,
                ),
                step.result,
            )
            for step in result.steps
        ],
        partial=None if result.outcome == "complete" else _reason(result),
        used_bytes=result.used_bytes,
        congestion_control=result.congestion_control,
        settings=_settings(result),
    )


def _settings(result: Result) -> BothSettings | None:
    told = result.settings
    if told is None:
        return None
    ends = (Settings(**end.model_dump()) for end in (told.probe, told.target))
    return BothSettings(*ends)


def path_labels(paths: Sequence[Path]) -> list[str]:
    """Names of paths: their interfaces, with the address where an interface has several."""
    counts = Counter(path.interface for path in paths)
    return [
        path.interface if counts[path.interface] == 1 else f"{path.interface} {path.source}"
        for path in paths
    ]


def sentence(result: Result) -> str:
    """The outcome of an experiment without steps."""
    return f"{_reason(result)}."


def _reason(result: Result) -> str:
    return (result.reason or "").removesuffix(".") or f"The experiment is {result.outcome}"

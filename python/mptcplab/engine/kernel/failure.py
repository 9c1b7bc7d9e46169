"""Failures that the lab process or a library tells, as errors of the engine."""

from __future__ import annotations

from mptcplab.engine.job import EngineError
from mptcplab.shortage import ShortageError, told_by


class NotGrantedError(EngineError, ShortageError):
    """The caller's limits, or the machine's, are too low: no other engine is advised for that."""


def failure(words: str) -> EngineError:
    """The error of which these words tell, whose cause stands at their end."""
    reason = told_by(words)
    return EngineError(words) if reason is None else NotGrantedError(reason)

"""A result as `mptcplab probe --json` prints its figures."""

from __future__ import annotations

from typing import Any

from mptcplab.measure.render import to_json
from mptcplab.server.intake import figures_of, sentence
from mptcplab.server.result import Result


def summary(result: Result) -> dict[str, Any]:
    """The form that `docs/json.md` describes; `verdict` is the reason where nothing was done."""
    told = to_json(figures_of(result))
    return told if result.steps else told | {"verdict": [sentence(result)]}

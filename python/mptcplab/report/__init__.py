"""Reports: one model computed from a result, rendered for a terminal, as a page and as JSON.

    from mptcplab.recording import Result
    from mptcplab.report import report, to_html, to_json, to_terminal

    model = report(Result.open(folder))
    to_terminal([model], console)

Names are loaded when they are first used, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab.report.engines import side_by_side
    from mptcplab.report.html import to_html
    from mptcplab.report.json import to_json
    from mptcplab.report.model import Report, report
    from mptcplab.report.terminal import to_terminal

__all__ = ["Report", "report", "side_by_side", "to_html", "to_json", "to_terminal"]

_HOMES = {
    "Report": "model",
    "report": "model",
    "side_by_side": "engines",
    "to_html": "html",
    "to_json": "json",
    "to_terminal": "terminal",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

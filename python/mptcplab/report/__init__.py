"""Reports: one model computed from a result, rendered for a terminal, as a page and as JSON.

    from mptcplab.recording import Result
    from mptcplab.report import report, to_html, to_json, to_terminal

    model = report(Result.open(folder))
    to_terminal([model], console)

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.report.engines import side_by_side
    from mptcplab.report.html import to_html
    from mptcplab.report.json import to_json
    from mptcplab.report.model import Report, report
    from mptcplab.report.terminal import to_terminal

__all__ = ["Report", "report", "side_by_side", "to_html", "to_json", "to_terminal"]

__getattr__ = lazy.names(
    __name__,
    {
        "Report": "model",
        "report": "model",
        "side_by_side": "engines",
        "to_html": "html",
        "to_json": "json",
        "to_terminal": "terminal",
    },
)

"""Recordings: what happened in a run, as tables that hold for years (``docs/recording.md``).

Names are loaded when they are first used, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mptcplab.recording.errors import RecordingError
    from mptcplab.recording.manifest import Lab, Manifest, Status
    from mptcplab.recording.reader import Recording
    from mptcplab.recording.result import Description, Result, open_results
    from mptcplab.recording.writer import Writer

__all__ = [
    "Description",
    "Lab",
    "Manifest",
    "Recording",
    "RecordingError",
    "Result",
    "Status",
    "Writer",
    "open_results",
]

_HOMES = {
    "Description": "result",
    "Lab": "manifest",
    "Manifest": "manifest",
    "Recording": "reader",
    "RecordingError": "errors",
    "Result": "result",
    "Status": "manifest",
    "Writer": "writer",
    "open_results": "result",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)

"""Recordings: what happened in a run, as tables that hold for years (``docs/recording.md``)."""

from typing import TYPE_CHECKING

from mptcplab import lazy

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

__getattr__ = lazy.names(
    __name__,
    {
        "Description": "result",
        "Lab": "manifest",
        "Manifest": "manifest",
        "Recording": "reader",
        "RecordingError": "errors",
        "Result": "result",
        "Status": "manifest",
        "Writer": "writer",
        "open_results": "result",
    },
)

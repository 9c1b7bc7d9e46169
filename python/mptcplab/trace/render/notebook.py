"""Presentation of a trace in a notebook."""

from __future__ import annotations

from markupsafe import escape

from mptcplab.trace import words
from mptcplab.trace.figures import with_rates
from mptcplab.trace.trace import Trace

SHOWN = 20
"""Connections that are listed, the largest first."""
_HEAD = ("", "protocol", "client → server", "subflows", "duration", "client sent", "server sent")


def to_notebook(trace: Trace) -> str:
    """Returns a table of the largest connections."""
    capture = trace.capture
    files = ", ".join(file.path for file in capture.files)
    partial = ", interrupted" if capture.interrupted else ""
    damaged = ", damaged" if capture.damaged else ""
    rows = with_rates(trace.connections).sort(
        -(trace.connections["client_bytes"] + trace.connections["server_bytes"])
    )
    cells = [
        (
            str(row["connection"]),
            words.protocol(row),
            words.ends(row),
            str(row["subflows"]),
            words.length(row["duration_ns"]),
            words.size(row["client_bytes"]),
            words.size(row["server_bytes"]),
        )
        for row in rows.head(SHOWN).iter_rows(named=True)
    ]
    head = "".join(f"<th>{escape(name)}</th>" for name in _HEAD)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells
    )
    more = f"<p>and {rows.height - SHOWN} more</p>" if rows.height > SHOWN else ""
    title = f"{files}: {words.count(capture.frames)} frames{partial}{damaged}"
    return (
        f"<p>{escape(title)}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )

"""Analysis of captures: what each connection of MPTCP or TCP, and each of its subflows, did.

    from mptcplab import trace

    found = trace.read("client.pcapng")
    print(found.connections.select("connection", "protocol", "server_bytes"))

Names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from mptcplab import lazy

if TYPE_CHECKING:
    from mptcplab.trace.errors import TraceError
    from mptcplab.trace.pairs.pair import Pair, pair
    from mptcplab.trace.reading import open_tables, read
    from mptcplab.trace.trace import Trace
    from mptcplab.trace.views import View, view

__all__ = ["Pair", "Trace", "TraceError", "View", "open_tables", "pair", "read", "view"]

__getattr__ = lazy.names(
    __name__,
    {
        "Pair": "pairs.pair",
        "Trace": "trace",
        "TraceError": "errors",
        "View": "views",
        "open_tables": "reading",
        "pair": "pairs.pair",
        "read": "reading",
        "view": "views",
    },
)

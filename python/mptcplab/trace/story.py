"""The protocol's story, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from mptcplab.trace.views import View
from mptcplab.trace.words import moment, place_words


def story(view: View) -> Iterator[str]:
    """Returns a line an event: time, connection and subflow, end that caused it, kind and text.

    Where the capture holds only one connection its number is left out.
    """
    alone = view.trace.connections.height == 1
    rows = view.events.to_dicts()
    places = [place_words(row["connection"], row["subflow"], alone=alone) for row in rows]
    width = max((len(place) for place in places), default=0)
    kinds = max((len(row["kind"]) for row in rows), default=0)
    for row, place in zip(rows, places, strict=True):
        yield (
            f"{moment(row['t_ns'], view.origin_ns):>12}  {place:{width}}  "
            f"{row['from'] or '':6}  {row['kind']:{kinds}}  {row['text']}  (frame {row['frame']})"
        )

"""A line for each title of a column that does not explain itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MEANINGS = {
    "reinjected\n(won)": "data that another subflow carried before; won: the copy was acknowledged "
    "on its subflow before the original was",
    "late": "new data below the highest data sequence number seen before it",
    "window\nlimited": "time in which the other end's window left less than a segment",
    "recovery": "longest part of a silence with data unacknowledged, above a second",
    "sent again: fast/\ntimeout/spurious": "retransmissions: told by SACK or duplicate "
    "acknowledgements / by a timer / not needed, as D-SACK told",
    "in flight\nat most": "data sent and not acknowledged, with what SACK told to have arrived",
    "pipe\nat most": "in flight, without what SACK tells to have arrived or to be lost (RFC 6675)",
    "strays": "packets that only the receiver's capture has",
    "by at most\npackets/ms": "reordering extent and late time (RFC 4737): how many packets, "
    "and how long, it came after the first that was sent later",
    "useful": "reinjected data that came before any other copy of it",
    "redundant": "reinjected data of which another copy had come before",
    "lead ms\nmedian": "how much earlier the copy came than the other subflow's; below 0: later",
    "taken": "how often the sender sent new data over this subflow",
    "of": "of so many choices in which it was established",
    "had lowest\nRTT": "choices in which its last measured round trip was the shortest",
    "taken\nthen": "how often it was taken in those",
    "news old\nmedian": "time since the last packet that it had of this subflow left the other end",
}
"""By the title of the column."""

IN_TERMINAL = (
    "reinjected\n(won)",
    "late",
    "pipe\nat most",
    "by at most\npackets/ms",
    "strays",
    "useful",
    "redundant",
    "lead ms\nmedian",
    "of",
    "had lowest\nRTT",
    "taken\nthen",
    "news old\nmedian",
)
"""Those that a terminal explains below its tables; the page explains all, at their titles."""


def explained(shown: Iterable[str]) -> Iterator[str]:
    """Returns a line for each of the titles that are shown, in their order, once."""
    titles = set(shown)
    for title in IN_TERMINAL:
        if title in titles:
            yield f"{title.replace(chr(10), ' ')}: {MEANINGS[title]}"

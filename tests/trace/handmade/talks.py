"""The captures that are made by hand, by name."""

from collections.abc import Callable

from tests.trace.handmade import endings, losses, odd, resets, version0, version1
from tests.trace.handmade.flow import Talk

TALKS: dict[str, Callable[[], Talk]] = {
    "v0": version0.everything,
    "v0-checksums": version0.with_checksums,
    "v0-ipv6": version0.ipv6,
    "v0-fast-close": version0.fast_close,
    "v1": version1.everything,
    "v1-checksums": version1.with_checksums,
    "v1-ipv6": version1.ipv6,
    "v1-infinite": version1.infinite_mapping,
    "v1-reset": version1.reset,
    "v1-server-joins": version1.server_joins,
    "reinjected": losses.reinjected,
    "retransmitted": losses.retransmitted,
    "lost-before": losses.lost_before,
    "lost-ends": losses.lost_ends,
    "many-holes": losses.many_holes,
    "spurious": losses.spurious,
    "probes": losses.probes,
    "wrong-hmac": odd.wrong_hmac,
    "unknown-token": odd.unknown_token,
    "middle": odd.from_the_middle,
    "stripped": odd.stripped,
    "tcp": odd.plain,
    "reset-on-the-way": odd.reset_on_the_way,
    "reset-in-syn-sent": resets.in_syn_sent,
    "reset-outside": resets.outside_of_the_window,
    "without-key": resets.without_key,
    "pause": endings.pause,
    "unacknowledged-end": endings.unacknowledged_end,
    "data-after-data-fin": endings.data_after_data_fin,
    "fin-with-data": endings.fin_with_data,
    "other-key": endings.other_key,
    "same-id": endings.same_id,
    "reset-alone": endings.reset_alone,
}
"""Each is connection 0 of its capture, and alone in it."""

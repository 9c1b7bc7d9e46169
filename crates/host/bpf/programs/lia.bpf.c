/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* LIA, linked increases (RFC 6356): in congestion avoidance each window grows by
 * min(alpha/total, 1/own) for each segment acknowledged; slow start and decrease are Reno's
 * (section 3). */
#include "increase.h"
#include "halving.h"

/* alpha/total = max(w/rtt^2) / (sum w/rtt)^2 (section 4). At the round trip of the best path b, the
 * one with the largest w/rtt^2, this is w_b/S^2, with S the sum of all windows at that round trip. */
INLINE s64 linked(const struct tcp_sock *tp, const struct connection *connection,
		  const struct path *own)
{
	u64 best_quality = 0, best_window = 0, best_rtt_us = 0, sum;
	u32 row;

	(void)own;
	for (row = 0; row < MOST_PATHS; row++) {
		const struct path *path = &connection->paths[row];
		u64 window_bytes = path->window_bytes, rtt_us = path->rtt_us | 1;
		u64 quality = (window_bytes << 32) / rtt_us / rtt_us;

		if (quality > best_quality) {
			best_quality = quality;
			best_window = window_bytes;
			best_rtt_us = rtt_us;
		}
	}
	sum = total_rate_at(connection, best_rtt_us);
	return smaller(linked_increase(tp, best_window, sum), uncoupled(tp));
}

CONTROL(lia, coupled, halving_ssthresh)

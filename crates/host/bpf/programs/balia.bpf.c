/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* BALIA, balanced linked adaptation: with x = w/rtt and a = max x / x of the path, a window grows
 * by x/(rtt (sum x)^2) (1+a)/2 (4+a)/5 for each segment acknowledged, and loses w/2 min(a, 3/2) on a
 * loss. Slow start is Reno's.
 *
 * Q. Peng et al., "Multipath TCP: Analysis, Design, and Implementation", IEEE/ACM Transactions on
 * Networking 24(1), 2016; draft-walid-mptcp-congestion-control-04, section 3. */
#include "increase.h"

/* Keeps products in 64 bits. */
#define LARGEST_BYTES (1ULL << 44)

/* max x, in bytes a round trip of `own`. */
INLINE u64 largest_rate_at(const struct connection *connection, u64 rtt_us)
{
	u64 most = 0;
	u32 row;

	for (row = 0; row < MOST_PATHS; row++)
		most = larger(most, rate_at(&connection->paths[row], rtt_us));
	return smaller(most, LARGEST_BYTES);
}

/* With m = a w and S the sum of all windows at the path's own round trip, the increase is
 * mss/(10 w) (w+m)/S (4w+m)/S. */
INLINE s64 linked(const struct tcp_sock *tp, const struct connection *connection,
		  const struct path *own)
{
	u64 window = own->window_bytes;
	u64 most = largest_rate_at(connection, own->rtt_us);
	u64 sum = total_rate_at(connection, own->rtt_us);
	u64 increase = uncoupled(tp);

	increase = increase * (((window + most) << 16) / sum) >> 16;
	increase = increase * (((4 * window + most) << 16) / sum) >> 16;
	return increase / 10;
}

SEC("struct_ops/balia_ssthresh")
u32 balia_ssthresh(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	const struct connection *connection;
	struct path *own = NULL;
	u64 window = tp->snd_cwnd, lost = window / 2;

	connection = publish(tp, &own);
	if (connection && own && is_known(own)) {
		u64 most = largest_rate_at(connection, own->rtt_us);

		/* a >= 3/2 */
		if (2 * most >= 3 * own->window_bytes)
			lost = window * 3 / 4;
		else
			lost = window * most / larger(own->window_bytes, 1) / 2;
	}
	note_loss(tp);
	return larger(window - lost, 2);
}

CONTROL(balia, coupled, balia_ssthresh)

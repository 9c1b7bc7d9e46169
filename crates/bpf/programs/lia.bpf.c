/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* LIA, linked increases (RFC 6356): in congestion avoidance each window grows by
 * min(alpha/total, 1/own) for each segment acknowledged; slow start and decrease are Reno's
 * (section 3). */
#include "window.h"

/* alpha/total = max(w/rtt^2) / (sum w/rtt)^2 (section 4). At the round trip of the best path b, the
 * one with the largest w/rtt^2, this is w_b/S^2, with S the sum of all windows at that round trip. */
INLINE s64 linked(const struct connection *connection, const struct path *own)
{
	u64 best_quality = 0, best_window = 0, best_rtt_us = 0, sum;
	u32 row;

	for (row = 0; row < MOST_PATHS; row++) {
		const struct path *path = &connection->paths[row];
		u64 window_bytes = path->window_bytes, rtt_us = path->rtt_us, quality;

		if (!is_known(path))
			continue;
		quality = (window_bytes << 32) / rtt_us / rtt_us;
		if (quality >= best_quality) {
			best_quality = quality;
			best_window = window_bytes;
			best_rtt_us = rtt_us;
		}
	}
	sum = rate_in_round_trips_of(connection, best_rtt_us);
	return ((best_window << 32) / sum >> 2) * ((own->mss << 32) / sum) >> 30;
}

SEC("struct_ops/lia_init")
void lia_init(u64 *args)
{
	begin((struct tcp_sock *)args[0]);
}

SEC("struct_ops/lia_release")
void lia_release(u64 *args)
{
	end((struct tcp_sock *)args[0]);
}

SEC("struct_ops/lia_cong_avoid")
void lia_cong_avoid(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	u32 acked = args[2];
	const struct connection *connection;
	struct path *own = NULL;
	s64 increase;

	if (!window_limited(tp))
		return;
	if (in_slow_start(tp)) {
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
	}
	increase = uncoupled(tp);
	connection = publish(tp, &own);
	if (connection && own && is_known(own))
		increase = smaller(increase, linked(connection, own));
	grow(tp, increase, acked);
}

SEC("struct_ops/lia_pkts_acked")
void lia_pkts_acked(u64 *args)
{
	struct path *own;

	publish((struct tcp_sock *)args[0], &own);
}

SEC("struct_ops/lia_set_state")
void lia_set_state(u64 *args)
{
	struct path *own;

	publish((struct tcp_sock *)args[0], &own);
}

SEC("struct_ops/lia_ssthresh")
u32 lia_ssthresh(u64 *args)
{
	note_loss((struct tcp_sock *)args[0]);
	return tcp_reno_ssthresh((struct sock *)args[0]);
}

SEC("struct_ops/lia_undo_cwnd")
u32 lia_undo_cwnd(u64 *args)
{
	return tcp_reno_undo_cwnd((struct sock *)args[0]);
}

SEC(".struct_ops")
struct tcp_congestion_ops mptcplab_lia = {
	.name = "lia",
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)lia_init,
	.release = (void *)lia_release,
	.ssthresh = (void *)lia_ssthresh,
	.cong_avoid = (void *)lia_cong_avoid,
	.set_state = (void *)lia_set_state,
	.undo_cwnd = (void *)lia_undo_cwnd,
	.pkts_acked = (void *)lia_pkts_acked,
};

char terms[] SEC("license") = "GPL";

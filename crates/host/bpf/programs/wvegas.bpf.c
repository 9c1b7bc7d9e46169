/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* wVegas, weighted Vegas: once a round trip, with diff = w (rtt - base)/rtt segments in queues, a
 * window grows by one where diff is below the path's share of 10, and shrinks by one where it is
 * above. Shares are in proportion to the paths' rates; a socket of plain TCP has all of it. When the
 * queueing delay is twice its minimum the window drops to w base/(2 rtt), so that queues drain and
 * base is found again. Slow start ends where a segment is queued. On a loss it is Reno's.
 *
 * Less than a segment in queues counts as no queueing delay. In exact arithmetic an empty queue has
 * none; in a real one it is some microseconds, which the next round doubles, and the window would
 * be drained all the time.
 *
 * Y. Cao, M. Xu, X. Fu, "Delay-based Congestion Control for Multipath TCP", ICNP 2012;
 * draft-xu-mptcp-congestion-control-05. */
#include "control.h"
#include "halving.h"

/* A segment in queues, in fixed point. */
#define SEGMENT 1024ULL
/* Segments that all subflows together keep in queues, the least share of one of them, and what
 * ends slow start. */
#define TOTAL_ALPHA (10 * SEGMENT)
#define LEAST_ALPHA (2 * SEGMENT)
#define GAMMA SEGMENT

#define TCP_CA_OPEN 0
#define NEVER 0xffffffffU

struct vegas {
	struct control control;
	/* Sum and count of the round's samples. */
	u64 sum_us;
	u32 samples;
	/* The round ends when this is acknowledged. */
	u32 round_end;
	u32 base_us;
	/* The path's share. */
	u32 alpha;
	/* Smallest mean queueing delay since the queues were drained. */
	u32 least_queueing_us;
	u32 unused;
};

STATE_FITS(struct vegas);

INLINE struct vegas *vegas_of(struct tcp_sock *tp)
{
	return (struct vegas *)control_of(tp);
}

INLINE void begin_round(struct tcp_sock *tp, struct vegas *vegas)
{
	vegas->sum_us = 0;
	vegas->samples = 0;
	vegas->round_end = tp->snd_nxt;
}

/* A new window, in congestion avoidance. */
INLINE void set_window(struct tcp_sock *tp, u64 segments)
{
	segments = smaller(larger(segments, 2), larger(tp->snd_cwnd_clamp, 2));
	tp->snd_cwnd = segments;
	tp->snd_ssthresh = segments;
}

/* The path's share of TOTAL_ALPHA. */
INLINE u64 share_of(struct tcp_sock *tp)
{
	struct path *own = NULL;
	const struct connection *connection = publish(tp, &own);

	if (!connection || !own || !is_known(own))
		return TOTAL_ALPHA;
	return TOTAL_ALPHA * own->window_bytes / total_rate_at(connection, own->rtt_us);
}

INLINE void end_round(struct tcp_sock *tp, struct vegas *vegas, bool is_limited)
{
	u64 rtt_us = larger(vegas->sum_us / larger(vegas->samples, 1), 1);
	u64 base_us = smaller(vegas->base_us, rtt_us);
	u64 queueing_us = rtt_us - base_us;
	u64 window = tp->snd_cwnd;
	u64 diff = window * queueing_us * SEGMENT / rtt_us;
	u64 least_us;

	if (in_slow_start(tp)) {
		if (diff > GAMMA)
			set_window(tp, smaller(window * base_us / rtt_us + 1, window));
		return;
	}
	if (diff >= vegas->alpha)
		vegas->alpha = larger(share_of(tp), LEAST_ALPHA);
	if (diff > vegas->alpha)
		set_window(tp, window - 1);
	else if (diff < vegas->alpha && is_limited)
		set_window(tp, window + 1);

	least_us = smaller(vegas->least_queueing_us, diff < SEGMENT ? 0 : queueing_us);
	if (least_us && queueing_us >= 2 * least_us) {
		set_window(tp, (u64)tp->snd_cwnd * base_us / (2 * rtt_us));
		least_us = NEVER;
	}
	vegas->least_queueing_us = least_us;
}

SEC("struct_ops/wvegas_init")
void wvegas_init(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	struct vegas *vegas = vegas_of(tp);

	begin(tp);
	begin_round(tp, vegas);
	vegas->base_us = NEVER;
	vegas->alpha = LEAST_ALPHA;
	vegas->least_queueing_us = NEVER;
}

SEC("struct_ops/wvegas_pkts_acked")
void wvegas_pkts_acked(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	const struct ack_sample *sample = (const struct ack_sample *)args[1];
	struct vegas *vegas = vegas_of(tp);
	struct path *own;
	s32 rtt_us = sample->rtt_us;

	publish(tp, &own);
	if (rtt_us <= 0 || !vegas->control.has_begun)
		return;
	vegas->base_us = smaller(vegas->base_us, rtt_us);
	vegas->sum_us += rtt_us;
	vegas->samples += 1;
}

SEC("struct_ops/wvegas_cong_avoid")
void wvegas_cong_avoid(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	u32 acknowledged = args[1], acked = args[2];
	struct vegas *vegas = vegas_of(tp);
	bool is_limited = window_limited(tp);

	if ((s32)(acknowledged - vegas->round_end) > 0) {
		if (vegas->samples)
			end_round(tp, vegas, is_limited);
		begin_round(tp, vegas);
	}
	if (in_slow_start(tp) && is_limited)
		tcp_slow_start(tp, acked);
}

/* Begins a round after losses are repaired: samples from meanwhile say nothing. */
SEC("struct_ops/wvegas_set_state")
void wvegas_set_state(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	struct path *own;

	publish(tp, &own);
	if (args[1] == TCP_CA_OPEN)
		begin_round(tp, vegas_of(tp));
}

CONTROL(wvegas, wvegas, halving_ssthresh)

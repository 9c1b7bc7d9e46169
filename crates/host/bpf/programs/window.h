/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The congestion window of a coupled subflow: what all algorithms share. */
#pragma once

#include "paths.h"

/* One, as a number of segments in fixed point. */
#define ONE (1ULL << 32)

/* The state of a socket, in `icsk_ca_priv`. */
struct control {
	struct membership member;
	/* Whether the kernel has said that it begins, and therefore will say that it ends: what a
	 * SYN/ACK acknowledges comes before. */
	u64 has_begun;
	/* The growth of the window that is no whole segment yet. */
	s64 credit;
	/* `bytes_acked` at the last loss. */
	u64 loss_mark;
	u64 between_losses;
};

INLINE struct control *control_of(struct tcp_sock *tp)
{
	struct control *control = (struct control *)tp->inet_conn.icsk_ca_priv;

	/* Otherwise the compiler takes an access to its first field for one to the whole array, which
	 * no kernel has at this size, and loading fails. */
	asm volatile("" : "+r"(control));
	return control;
}

#define STATE_FITS(state)                                                                  \
	_Static_assert(sizeof(state) <=                                                    \
			       sizeof(((struct inet_connection_sock *)0)->icsk_ca_priv),   \
		       "the state of a control is too large")

STATE_FITS(struct control);

/* Tells the other paths of this one, and gives the connection; none where the socket is not
 * coupled. */
INLINE struct connection *publish(struct tcp_sock *tp, struct path **own)
{
	struct control *control = control_of(tp);
	struct connection *connection;
	struct path *path = NULL;
	u64 window_bytes, rtt_us;

	if (!control->has_begun)
		return NULL;
	if (!control->member.connection)
		join(tp, &control->member);
	connection = joined(tp, &control->member, &path);
	if (!connection || !path) {
		control->member.connection = 0;
		return NULL;
	}
	window_bytes = (u64)tp->snd_cwnd * tp->mss_cache;
	rtt_us = tp->srtt_us >> 3;
	path->rtt_us = smaller(rtt_us, LARGEST_RTT_US) | 1;
	path->window_bytes = tp->srtt_us ? smaller(window_bytes, LARGEST_WINDOW_BYTES) : 0;
	path->segments = tp->srtt_us ? tp->snd_cwnd : 0;
	path->since_loss = tp->bytes_acked - control->loss_mark;
	path->between_losses = control->between_losses;
	*own = path;
	return connection;
}

INLINE void begin(struct tcp_sock *tp)
{
	struct control *control = control_of(tp);
	struct path *own;

	control->member.connection = 0;
	control->member.row = 0;
	control->has_begun = 1;
	control->credit = 0;
	control->loss_mark = tp->bytes_acked;
	control->between_losses = 0;
	publish(tp, &own);
}

INLINE void end(struct tcp_sock *tp)
{
	leave(tp, &control_of(tp)->member);
}

/* A loss, told once a window. */
INLINE void note_loss(struct tcp_sock *tp)
{
	struct control *control = control_of(tp);

	control->credit = 0;
	control->between_losses = tp->bytes_acked - control->loss_mark;
	control->loss_mark = tp->bytes_acked;
}

/* w/S^2 in segments of this socket, for a window w and a total S in bytes. */
INLINE s64 linked_increase(const struct tcp_sock *tp, u64 window_bytes, u64 sum)
{
	u64 segment = ((u64)tp->mss_cache << 32) / sum;

	return ((window_bytes << 32) / sum >> 2) * segment >> 30;
}

/* Reno's increase for each segment acknowledged: 1/window. */
INLINE s64 uncoupled(const struct tcp_sock *tp)
{
	return ONE / larger(tp->snd_cwnd, 1);
}

/* `increase` for each of `acked` segments, which may be negative; two segments are left. */
INLINE void grow(struct tcp_sock *tp, s64 increase, u32 acked)
{
	struct control *control = control_of(tp);
	s64 credit = control->credit + increase * (s64)acked;
	s64 segments = credit >> 32;
	s64 window;

	control->credit = credit - (segments << 32);
	if (!segments)
		return;
	window = (s64)tp->snd_cwnd + segments;
	if (window < 2)
		window = 2;
	tp->snd_cwnd = smaller(window, larger(tp->snd_cwnd_clamp, 1));
}

/* Slow start, which is Reno's, and whether anything is left for congestion avoidance: `acked` is
 * what is. */
INLINE bool avoids_congestion(struct tcp_sock *tp, u32 *acked)
{
	if (!window_limited(tp))
		return false;
	if (in_slow_start(tp))
		*acked = tcp_slow_start(tp, *acked);
	return *acked != 0;
}

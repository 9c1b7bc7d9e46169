/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The arithmetic of a control as a library of this machine's: RULE is the program's file. */
#define __builtin_preserve_field_info(field, kind) 0
#include RULE

u32 tcp_slow_start(struct tcp_sock *tp, u32 acked)
{
	(void)tp;
	return acked;
}

u32 tcp_reno_ssthresh(struct sock *sk)
{
	(void)sk;
	return 0;
}

u32 tcp_reno_undo_cwnd(struct sock *sk)
{
	(void)sk;
	return 0;
}

static struct tcp_sock socket_of(const struct path *own, u32 mss)
{
	struct tcp_sock tp = {};

	tp.mss_cache = mss;
	tp.snd_cwnd = own->segments;
	tp.snd_cwnd_clamp = ~0U;
	return tp;
}

#ifdef VEGAS
/* The effect of a round on a window in congestion avoidance of plain TCP; `state` is the share in
 * 1/1024 segments and the least queueing delay, before and after. */
u32 end_of_round(u32 window, u32 base_us, u32 rtt_us, bool is_limited, u32 state[2])
{
	struct path own = {.segments = window};
	struct tcp_sock tp = socket_of(&own, 1448);
	struct vegas vegas = {.sum_us = rtt_us, .samples = 1, .base_us = base_us};

	tp.snd_ssthresh = window;
	vegas.alpha = state[0];
	vegas.least_queueing_us = state[1];
	end_round(&tp, &vegas, is_limited);
	state[0] = vegas.alpha;
	state[1] = vegas.least_queueing_us;
	return tp.snd_cwnd;
}
#else
/* The increase for a segment acknowledged on a path, in 2^-32 segments. */
s64 increase_of(const struct path *paths, u32 count, u32 own, u32 mss)
{
	static struct connection connection;
	struct tcp_sock tp = socket_of(&paths[own], mss);
	u32 row;

	for (row = 0; row < MOST_PATHS; row++)
		connection.paths[row] = row < count ? paths[row] : (struct path){};
	return linked(&tp, &connection, &connection.paths[own]);
}
#endif

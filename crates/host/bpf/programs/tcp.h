/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* TCP sockets as congestion controls see them, and what Linux offers to all controls. */
#pragma once

#include "kernel.h"

struct inet_sock {
	struct sock sk;
} RELOCATED;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	void *icsk_ulp_data;
	/* The control's own state; 88 bytes at least. */
	u64 icsk_ca_priv[11];
} RELOCATED;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 snd_nxt;
	/* An eighth of a microsecond; 0 before the first sample. */
	u32 srtt_us;
	u32 mss_cache;
	u32 max_packets_out;
	u64 bytes_acked;
	u8 is_cwnd_limited : 1;
	bool is_mptcp;
} RELOCATED;

struct mptcp_sock {
	u32 token;
} RELOCATED;

struct mptcp_subflow_context {
	/* The socket of the whole connection. */
	struct sock *conn;
	/* Its number in the connection. */
	u32 subflow_id;
} RELOCATED;

struct ack_sample {
	s32 rtt_us;
} RELOCATED;

struct tcp_congestion_ops {
	u32 flags;
	char name[16];
	void (*init)(struct sock *);
	void (*release)(struct sock *);
	u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*set_state)(struct sock *, u8);
	u32 (*undo_cwnd)(struct sock *);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
};

/* Any user and any network namespace may choose it. */
#define TCP_CONG_NON_RESTRICTED 1

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) KFUNC;
extern u32 tcp_reno_ssthresh(struct sock *sk) KFUNC;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KFUNC;

INLINE bool in_slow_start(const struct tcp_sock *tp)
{
	return tp->snd_cwnd < tp->snd_ssthresh;
}

/* A bit is read from the bytes around it, wherever the kernel has those. */
INLINE bool was_cwnd_limited(const struct tcp_sock *tp)
{
	const void *place =
		(const void *)tp + __builtin_preserve_field_info(tp->is_cwnd_limited, BYTE_OFFSET);
	u64 value = 0;

	switch (__builtin_preserve_field_info(tp->is_cwnd_limited, BYTES)) {
	case 1:
		value = *(const u8 *)place;
		break;
	case 2:
		value = *(const u16 *)place;
		break;
	case 4:
		value = *(const u32 *)place;
		break;
	case 8:
		value = *(const u64 *)place;
		break;
	}
	value <<= __builtin_preserve_field_info(tp->is_cwnd_limited, LEFT);
	return value >> __builtin_preserve_field_info(tp->is_cwnd_limited, RIGHT);
}

/* Whether the window limited what was sent (RFC 7661); in slow start it may grow to twice what
 * was in flight, as everywhere in Linux. */
INLINE bool window_limited(const struct tcp_sock *tp)
{
	if (was_cwnd_limited(tp))
		return true;
	return in_slow_start(tp) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

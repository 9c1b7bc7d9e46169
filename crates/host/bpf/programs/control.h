/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The parts that all controls have; each object has its own. */
#pragma once

#include "window.h"

SEC("struct_ops/coupled_release")
void coupled_release(u64 *args)
{
	end((struct tcp_sock *)args[0]);
}

SEC("struct_ops/coupled_undo_cwnd")
u32 coupled_undo_cwnd(u64 *args)
{
	return tcp_reno_undo_cwnd((struct sock *)args[0]);
}

/* Registers a control, whose own parts are named after `rule`. */
#define CONTROL(algorithm, rule, on_loss)                                                  \
	SEC(".struct_ops")                                                                 \
	struct tcp_congestion_ops mptcplab_##algorithm = {                                 \
		.name = #algorithm,                                                        \
		.flags = TCP_CONG_NON_RESTRICTED,                                          \
		.init = (void *)rule##_init,                                               \
		.release = (void *)coupled_release,                                        \
		.ssthresh = (void *)on_loss,                                               \
		.cong_avoid = (void *)rule##_cong_avoid,                                   \
		.set_state = (void *)rule##_set_state,                                     \
		.undo_cwnd = (void *)coupled_undo_cwnd,                                    \
		.pkts_acked = (void *)rule##_pkts_acked,                                   \
	};

char terms[] SEC("license") = "GPL";

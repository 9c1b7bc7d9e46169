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

char terms[] SEC("license") = "GPL";

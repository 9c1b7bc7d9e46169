/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Reno's decrease: half of the window. */
#pragma once

#include "window.h"

SEC("struct_ops/halving_ssthresh")
u32 halving_ssthresh(u64 *args)
{
	note_loss((struct tcp_sock *)args[0]);
	return tcp_reno_ssthresh((struct sock *)args[0]);
}

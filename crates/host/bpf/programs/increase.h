/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* A control that is a rule of how much a window grows in congestion avoidance. */
#pragma once

#include "control.h"

/* The rule: the increase for each segment acknowledged on the path `own`, as a number of segments
 * in fixed point. */
INLINE s64 linked(const struct tcp_sock *tp, const struct connection *connection,
		  const struct path *own);

SEC("struct_ops/coupled_init")
void coupled_init(u64 *args)
{
	begin((struct tcp_sock *)args[0]);
}

SEC("struct_ops/coupled_cong_avoid")
void coupled_cong_avoid(u64 *args)
{
	struct tcp_sock *tp = (struct tcp_sock *)args[0];
	u32 acked = args[2];
	const struct connection *connection;
	struct path *own = NULL;
	s64 increase;

	if (!avoids_congestion(tp, &acked))
		return;
	connection = publish(tp, &own);
	if (connection && own && is_known(own))
		increase = linked(tp, connection, own);
	else
		increase = uncoupled(tp);
	grow(tp, increase, acked);
}

SEC("struct_ops/coupled_pkts_acked")
void coupled_pkts_acked(u64 *args)
{
	struct path *own;

	publish((struct tcp_sock *)args[0], &own);
}

/* After a timeout, above all: the other paths need not wait for one that is dead. */
SEC("struct_ops/coupled_set_state")
void coupled_set_state(u64 *args)
{
	struct path *own;

	publish((struct tcp_sock *)args[0], &own);
}

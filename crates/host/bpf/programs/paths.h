/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The paths of a connection: each subflow keeps what the others need to know of it in a row that
 * all subflows of its connection can read. Only its own socket, which holds the socket's lock,
 * writes a row; a reader may see one half an acknowledgement old, as it may on the wire. */
#pragma once

#include "tcp.h"

/* Subflows that are coupled; Linux opens 8 by itself. Further ones behave as Reno. */
#define MOST_PATHS 16
/* Connections at a time; subflows of further ones behave as Reno. */
#define MOST_CONNECTIONS 65536

/* Above any window that Linux can have; keeps products in 64 bits. */
#define LARGEST_WINDOW_BYTES (1ULL << 31)
#define LARGEST_RTT_US (1ULL << 28)

struct path {
	/* Whose row it is; 0: nobody's. */
	u64 socket;
	/* 0 as long as there is no round trip. */
	u64 window_bytes;
	/* Smoothed, and odd: nothing divides by 0. */
	u64 rtt_us;
	/* The window in segments. */
	u64 segments;
	/* Bytes acknowledged since the last loss, and between the last two. */
	u64 since_loss;
	u64 between_losses;
};

struct connection {
	/* The connection's socket; 0 once the last subflow has left. */
	u64 id;
	struct bpf_spin_lock lock;
	struct path paths[MOST_PATHS];
};

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_HASH);
	MAP_NUMBER(map_flags, BPF_F_NO_PREALLOC);
	MAP_NUMBER(max_entries, MOST_CONNECTIONS);
	MAP_TYPE(key, u64);
	MAP_TYPE(value, struct connection);
} connections SEC(".maps");

/* The values that a new connection starts from. */
static const u8 nothing[sizeof(struct connection)] = {};

/* A subflow's place among the paths of its connection. */
struct membership {
	/* The connection's socket; 0 while it is not coupled. */
	u64 connection;
	u64 row;
};

/* The socket of the connection that this one is a subflow of; 0 for plain TCP. It exists as long
 * as the subflow does, so that the number is unique, also across network namespaces. */
INLINE u64 connection_of(struct tcp_sock *tp)
{
	const struct mptcp_subflow_context *subflow;
	struct sock *connection = NULL;

	/* The first is a kernel without MPTCP. */
	if (!__builtin_preserve_field_info(tp->is_mptcp, EXISTS) || !tp->is_mptcp)
		return 0;
	subflow = tp->inet_conn.icsk_ulp_data;
	if (bpf_probe_read_kernel(&connection, sizeof(connection), &subflow->conn))
		return 0;
	return (u64)connection;
}

/* Takes a row. Only who has inserted a connection names it, and only a named one is joined: it may
 * be on its way out, and its memory on its way to another connection. Who is turned away tries
 * again with the next acknowledgement. */
INLINE void join(struct tcp_sock *tp, struct membership *member)
{
	u64 id = connection_of(tp);
	struct connection *connection;
	bool is_new = false;
	u32 row;

	if (!id)
		return;
	connection = bpf_map_lookup_elem(&connections, &id);
	if (!connection) {
		is_new = !bpf_map_update_elem(&connections, &id, nothing, BPF_NOEXIST);
		connection = bpf_map_lookup_elem(&connections, &id);
	}
	if (!connection)
		return;
	bpf_spin_lock(&connection->lock);
	if (is_new)
		connection->id = id;
	for (row = 0; row < MOST_PATHS; row++) {
		if (connection->id != id || !connection->paths[row].socket)
			break;
	}
	if (row < MOST_PATHS && connection->id == id)
		connection->paths[row].socket = (u64)tp;
	else
		id = 0;
	bpf_spin_unlock(&connection->lock);
	member->connection = id;
	member->row = row;
}

/* The connection, and by it the own row; none where the socket is not coupled. */
INLINE struct connection *joined(struct tcp_sock *tp, struct membership *member,
				 struct path **own)
{
	u64 id = member->connection;
	u64 row = member->row;
	struct connection *connection;

	if (!id || row >= MOST_PATHS)
		return NULL;
	connection = bpf_map_lookup_elem(&connections, &id);
	if (!connection || connection->paths[row].socket != (u64)tp)
		return NULL;
	*own = &connection->paths[row];
	return connection;
}

/* Gives the row back; the last subflow takes the connection with it. */
INLINE void leave(struct tcp_sock *tp, struct membership *member)
{
	struct path *own = NULL;
	struct connection *connection = joined(tp, member, &own);
	u64 id = member->connection;
	bool is_last = true;
	u32 row;

	member->connection = 0;
	if (!connection || !own)
		return;
	bpf_spin_lock(&connection->lock);
	own->window_bytes = 0;
	own->rtt_us = 0;
	own->segments = 0;
	own->since_loss = 0;
	own->between_losses = 0;
	own->socket = 0;
	for (row = 0; row < MOST_PATHS; row++) {
		if (connection->paths[row].socket)
			is_last = false;
	}
	if (is_last)
		connection->id = 0;
	bpf_spin_unlock(&connection->lock);
	if (is_last)
		bpf_map_delete_elem(&connections, &id);
}

/* Whether a row counts: its subflow stands and knows its round trip. A row that does not is of
 * windows and rates 0. */
INLINE bool is_known(const struct path *path)
{
	return path->window_bytes;
}

/* The rate of a path in bytes a round trip of `rtt_us`, which is odd as all of them are. */
INLINE u64 rate_at(const struct path *path, u64 rtt_us)
{
	return path->window_bytes * rtt_us / (path->rtt_us | 1);
}

/* The rate of the connection in bytes a round trip of `rtt_us`. */
INLINE u64 total_rate_at(const struct connection *connection, u64 rtt_us)
{
	u64 sum = 0;
	u32 row;

	for (row = 0; row < MOST_PATHS; row++)
		sum += rate_at(&connection->paths[row], rtt_us);
	return larger(sum, 1);
}

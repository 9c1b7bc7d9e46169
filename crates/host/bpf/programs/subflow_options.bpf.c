/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Sets or reads an option of one subflow of a Multipath TCP connection, whose socket the application
 * does not see. Goes through the TCP sockets of the network namespace of whom reads it, and answers
 * for the subflow that the request names: by its connection and its number there, since sockets that
 * are bound to different devices may share all of their addresses. */
#include "tcp.h"

#define LONGEST_VALUE 256

struct request {
	/* Of the connection, on this host; never 0. */
	u32 token;
	u32 subflow_id;
	s32 level;
	s32 option;
	u32 is_set;
	u32 length;
	u8 value[LONGEST_VALUE];
};

struct answer {
	s32 status;
	u8 value[LONGEST_VALUE];
};

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct request);
} requests SEC(".maps");

struct {
	MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
	MAP_NUMBER(max_entries, 1);
	MAP_TYPE(key, u32);
	MAP_TYPE(value, struct answer);
} answers SEC(".maps");

struct bpf_iter_meta {
	void *seq;
} RELOCATED;

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
} RELOCATED;

INLINE bool is_meant(struct sock_common *socket, const struct request *request)
{
	const struct tcp_sock *tp = bpf_skc_to_tcp_sock(socket);
	const struct mptcp_subflow_context *subflow;
	const struct mptcp_sock *connection = NULL;
	u32 token = 0, id = 0;

	/* A socket that is not yet one, or no more, is none; nor has a kernel without MPTCP any. */
	if (!tp || !__builtin_preserve_field_info(tp->is_mptcp, EXISTS) || !tp->is_mptcp)
		return false;
	subflow = tp->inet_conn.icsk_ulp_data;
	/* Subflows have numbers since Linux 6.5. */
	if (!__builtin_preserve_field_info(subflow->subflow_id, EXISTS) ||
	    bpf_probe_read_kernel(&connection, sizeof(connection), &subflow->conn) ||
	    bpf_probe_read_kernel(&id, sizeof(id), &subflow->subflow_id) || !connection ||
	    bpf_probe_read_kernel(&token, sizeof(token), &connection->token))
		return false;
	return token && token == request->token && id == request->subflow_id;
}

SEC("iter/tcp")
int subflow_option(struct bpf_iter__tcp *context)
{
	struct sock_common *socket = context->sk_common;
	struct request *request;
	struct answer *answer;
	u32 key = 0, length;

	if (!socket)
		return 0;
	request = bpf_map_lookup_elem(&requests, &key);
	answer = bpf_map_lookup_elem(&answers, &key);
	if (!request || !answer || !is_meant(socket, request))
		return 0;
	length = request->length;
	if (!length || length > LONGEST_VALUE)
		return 0;
	if (request->is_set)
		answer->status = bpf_setsockopt(socket, request->level, request->option,
						request->value, length);
	else
		answer->status = bpf_getsockopt(socket, request->level, request->option,
						answer->value, length);
	bpf_seq_write(context->meta->seq, answer, sizeof(*answer));
	return 0;
}

char terms[] SEC("license") = "GPL";

/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Sets or reads an option of one TCP socket, whoever has it: of the subflow of a connection, whose
 * socket the application does not see. Goes through the TCP sockets of the network namespace of
 * whom reads it, and answers for the one that has the addresses of the request. */
#include "kernel.h"

#define LONGEST_VALUE 256

#define AF_INET 2
#define AF_INET6 10
#define TCP_TIME_WAIT 6
#define TCP_NEW_SYN_RECV 12

/* One end: IPv4 as an address of IPv6 that maps it. Address and port as on the wire. */
struct end {
	u32 address[4];
	u32 port;
};

struct request {
	struct end local;
	struct end remote;
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

INLINE bool is_mapped(const u32 *address, u32 ipv4)
{
	return !address[0] && !address[1] && address[2] == __builtin_bswap32(0xffff) &&
	       address[3] == ipv4;
}

INLINE bool is_equal(const u32 *address, const struct in6_addr *ipv6)
{
	return address[0] == ipv6->in6_u.u6_addr32[0] && address[1] == ipv6->in6_u.u6_addr32[1] &&
	       address[2] == ipv6->in6_u.u6_addr32[2] && address[3] == ipv6->in6_u.u6_addr32[3];
}

INLINE bool is_meant(const struct sock_common *socket, const struct request *request)
{
	const struct end *local = &request->local, *remote = &request->remote;

	if (socket->skc_dport != remote->port ||
	    __builtin_bswap16(socket->skc_num) != local->port)
		return false;
	if (socket->skc_state == TCP_TIME_WAIT || socket->skc_state == TCP_NEW_SYN_RECV)
		return false;
	if (socket->skc_family == AF_INET)
		return is_mapped(local->address, socket->skc_rcv_saddr) &&
		       is_mapped(remote->address, socket->skc_daddr);
	if (socket->skc_family != AF_INET6 ||
	    !__builtin_preserve_field_info(socket->skc_v6_daddr, EXISTS))
		return false;
	return is_equal(local->address, &socket->skc_v6_rcv_saddr) &&
	       is_equal(remote->address, &socket->skc_v6_daddr);
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

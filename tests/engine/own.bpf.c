/* A congestion control that behaves as Reno, for the tests: SECTION, STRUCTURE and NAME are given,
 * and MISTAKE makes the verifier refuse it. */
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define KFUNC __attribute__((section(".ksyms")))

struct sock {
	int unused;
};

struct STRUCTURE {
	u32 flags;
	char name[16];
	u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, u32, u32);
	u32 (*undo_cwnd)(struct sock *);
} __attribute__((preserve_access_index));

extern u32 tcp_reno_ssthresh(struct sock *sk) KFUNC;
extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) KFUNC;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KFUNC;

SEC("struct_ops/own_ssthresh")
u32 own_ssthresh(u64 *args)
{
#ifdef MISTAKE
	return *(u32 *)(args[0] + (1 << 20));
#else
	return tcp_reno_ssthresh((struct sock *)args[0]);
#endif
}

SEC("struct_ops/own_cong_avoid")
void own_cong_avoid(u64 *args)
{
	tcp_reno_cong_avoid((struct sock *)args[0], args[1], args[2]);
}

SEC("struct_ops/own_undo_cwnd")
u32 own_undo_cwnd(u64 *args)
{
	return tcp_reno_undo_cwnd((struct sock *)args[0]);
}

SEC(SECTION)
struct STRUCTURE own = {
	.name = NAME,
	.ssthresh = (void *)own_ssthresh,
	.cong_avoid = (void *)own_cong_avoid,
	.undo_cwnd = (void *)own_undo_cwnd,
};

char terms[] SEC("license") = "GPL";

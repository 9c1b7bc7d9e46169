/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The parts of the kernel that the programs use. Of its structures only the fields that are read:
 * loading finds where the running kernel has them (CO-RE), so that neither its headers nor its
 * version are needed. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;
typedef u8 bool;

#define true 1
#define false 0
#define NULL ((void *)0)

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#ifdef __bpf__
#define KFUNC __attribute__((section(".ksyms")))
#define RELOCATED __attribute__((preserve_access_index))
#else /* tests of the arithmetic, outside of any kernel */
#define KFUNC
#define RELOCATED
#endif

/* Questions about a field that are answered where the program is loaded; a bit field is in BYTES
 * bytes, and is the rest after a shift by LEFT and one by RIGHT as of a u64. */
enum { BYTE_OFFSET = 0, BYTES = 1, EXISTS = 2, LEFT = 4, RIGHT = 5 };

/* The fields of a map's definition, which its reader knows by their types. */
#define MAP_NUMBER(name, value) int (*name)[value]
#define MAP_TYPE(name, type) type *name

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_NOEXIST = 1,
	BPF_F_NO_PREALLOC = 1,
};

struct bpf_spin_lock {
	u32 val;
};

struct sock_common {
	u16 skc_family;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
} RELOCATED;

struct tcp_sock;

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value,
				   u64 flags) = (void *)2;
static long (*bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static long (*bpf_setsockopt)(void *socket, int level, int option, void *value,
			      int length) = (void *)49;
static long (*bpf_getsockopt)(void *socket, int level, int option, void *value,
			      int length) = (void *)57;
static void (*bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static void (*bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static long (*bpf_probe_read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;
static long (*bpf_seq_write)(void *sequence, const void *data, u32 bytes) = (void *)127;
static struct tcp_sock *(*bpf_skc_to_tcp_sock)(void *socket) = (void *)137;

INLINE u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

INLINE u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

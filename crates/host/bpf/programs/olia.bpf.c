/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* OLIA, opportunistic linked increases: for each segment acknowledged a window grows by
 * (w/rtt^2) / (sum w/rtt)^2 + e/w. e moves windows from the paths with the largest ones (M) to the
 * best paths that have smaller ones (B without M); best are those with the largest l^2/rtt, l the
 * bytes between losses. With n paths e is 1/(n |B without M|) on B without M, -1/(n |M|) on M, and
 * 0 elsewhere or where B without M is empty. Slow start and decrease are Reno's.
 *
 * R. Khalili et al., "MPTCP Is Not Pareto-Optimal: Performance Issues and a Possible Solution",
 * CoNEXT 2012, section 4; draft-khalili-mptcp-congestion-control-05, section 3. The simulator has
 * the same in crates/protocol/stack/src/congestion/olia.rs. */
#include "increase.h"
#include "halving.h"

/* l in 64 bytes: squares then fit, of up to 256 GB between losses. */
#define QUALITY_SHIFT 6

/* Functions of their own, so that the verifier follows their branches once, and not those of each
 * path in each combination with those of the others. */
#define APART __attribute__((noinline))

APART u64 largest_of(u64 a, u64 b)
{
	return larger(a, b);
}

APART u64 is_at_least(u64 a, u64 b)
{
	return a >= b;
}

APART u64 quality(u64 since_loss, u64 between_losses, u64 rtt_us)
{
	u64 between = larger(since_loss, between_losses) >> QUALITY_SHIFT;

	between = smaller(between, 0xffffffff);
	return between * between / (rtt_us | 1);
}

INLINE u64 quality_of(const struct path *path)
{
	return quality(path->since_loss, path->between_losses, path->rtt_us);
}

/* e/w of `own`. */
INLINE s64 moved(const struct tcp_sock *tp, const struct connection *connection,
		 const struct path *own)
{
	u64 best_quality = 0, most_segments = 0, paths = 0, collected = 0, largest = 0;
	u64 share = uncoupled(tp);
	u32 row;

	for (row = 0; row < MOST_PATHS; row++) {
		const struct path *path = &connection->paths[row];

		paths += is_at_least(path->window_bytes, 1);
		best_quality = largest_of(best_quality, quality_of(path));
		most_segments = largest_of(most_segments, path->segments);
	}
	for (row = 0; row < MOST_PATHS; row++) {
		const struct path *path = &connection->paths[row];
		u64 is_known = is_at_least(path->window_bytes, 1);
		u64 is_best = is_at_least(quality_of(path), best_quality) & is_known;
		u64 is_largest = is_at_least(path->segments, most_segments) & is_known;

		collected += is_best & ~is_largest;
		largest += is_largest;
	}
	if (!collected)
		return 0;
	if (is_at_least(own->segments, most_segments))
		return -(s64)(share / (paths * largest));
	if (is_at_least(quality_of(own), best_quality))
		return share / (paths * collected);
	return 0;
}

/* At the path's own round trip the first term is w/S^2, with S the sum of all windows at it. */
INLINE s64 linked(const struct tcp_sock *tp, const struct connection *connection,
		  const struct path *own)
{
	u64 sum = total_rate_at(connection, own->rtt_us);

	return linked_increase(tp, own->window_bytes, sum) + moved(tp, connection, own);
}

CONTROL(olia, coupled, halving_ssthresh)

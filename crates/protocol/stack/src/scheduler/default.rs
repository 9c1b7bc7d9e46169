//! The scheduler of the upstream kernel.

use alloc::vec::Vec;

use super::{Choice, Scheduler, SubflowView, View};

/// Data given to one subflow before the next choice: 64 KiB less the headers that the kernel keeps
/// room for (`MPTCP_SEND_BURST_SIZE`: TCP and its options 60, IPv6 40, fragment header 8).
pub const BURST_BYTES: u64 = (1 << 16) - 108;

/// The subflow that will have sent what it was handed the soonest: the least queued memory over
/// average rate. If its send buffer is full, nothing is sent at all; else it gets a burst, which ends
/// with the fragment that completes it or fills the send buffer.
///
/// Data is queued at the subflow beyond its congestion window, up to its send buffer. The average
/// rate of a subflow is weighted by what it has queued and what it gets.
///
/// Source: `mptcp_subflow_get_send` in Linux 6.18, net/mptcp/protocol.c; the idea is BLEST's
/// ([`Blest`](super::Blest)).
#[derive(Clone, Debug, core::default::Default)]
pub struct Default {
    /// Average rates by number of the subflow, bytes a second; 0 before the first burst.
    rates: Vec<(u32, u64)>,
}

impl Default {
    /// The average rate of a subflow, which begins as its rate now.
    fn rate(&mut self, subflow: &SubflowView) -> &mut u64 {
        let known = |&(id, _): &(u32, u64)| id == subflow.id;
        let place = match self.rates.iter().position(known) {
            Some(place) => place,
            None => {
                self.rates.push((subflow.id, 0));
                self.rates.len() - 1
            }
        };
        let rate = &mut self.rates[place].1;
        if *rate == 0 {
            *rate = subflow.rate_bytes_per_second();
        }
        rate
    }
}

/// How long it takes to send what is queued, in memory, at a rate, which may be the shortest of all
/// where the rate is not known yet.
#[derive(Clone, Copy)]
struct Linger {
    queued_bytes: u64,
    rate: u64,
}

impl Linger {
    /// Compares the quotients without a division, as this is asked at every acknowledgement.
    fn is_less_than(self, other: Self) -> bool {
        match (self.rate, other.rate) {
            (_, 0) => false,
            (0, _) => other.queued_bytes > 0,
            (rate, other_rate) => {
                u128::from(self.queued_bytes) * u128::from(other_rate)
                    < u128::from(other.queued_bytes) * u128::from(rate)
            }
        }
    }
}

impl Scheduler for Default {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let mut best: Option<(Linger, usize)> = None;
        for (index, subflow) in view.preferred() {
            let linger = Linger {
                queued_bytes: subflow.queued_memory_bytes,
                rate: *self.rate(subflow),
            };
            if best.is_none_or(|(least, _)| linger.is_less_than(least)) {
                best = Some((linger, index));
            }
        }
        let (_, index) = best?;
        let subflow = &view.subflows[index];
        if subflow.queued_bytes >= subflow.queue_limit_bytes {
            return None;
        }
        let room = subflow.queue_limit_bytes - subflow.queued_bytes;
        let choice = view.new_data(index, BURST_BYTES.min(room))?;
        let burst = BURST_BYTES.min(view.window_end - view.next);
        let current = subflow.rate_bytes_per_second();
        let average = self.rate(subflow);
        *average = average
            .saturating_mul(subflow.queued_memory_bytes)
            .saturating_add(current.saturating_mul(burst))
            / (burst + subflow.queued_memory_bytes);
        // The rates of subflows that are gone.
        if self.rates.len() > 2 * view.subflows.len() {
            self.rates
                .retain(|(id, _)| view.subflows.iter().any(|subflow| subflow.id == *id));
        }
        Some(choice)
    }

    fn places_retransmissions(&self) -> bool {
        true
    }

    fn hands_fragments(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{subflow, view};
    use super::*;

    fn queued(id: u32, bytes: u64, rate: u64) -> SubflowView {
        SubflowView {
            queued_bytes: bytes,
            queued_memory_bytes: bytes,
            // In a round trip of 10 ms.
            paced_bits: rate * 8 / 100,
            ..subflow(id, 10)
        }
    }

    #[test]
    fn the_queue_that_drains_first_is_filled_whatever_the_round_trip_times() {
        // 8 ms against 5 ms.
        let subflows = [queued(0, 8_000, 1_000_000), queued(1, 10_000, 2_000_000)];
        let choice = Default::default().choose(&view(&subflows)).unwrap();
        assert_eq!((choice.subflow, choice.from), (1, 0));
    }

    #[test]
    fn a_burst_is_no_more_than_the_send_buffer_has_room_for() {
        let nearly_full = queued(0, 19_000, 1_000_000);
        let choice = Default::default().choose(&view(&[nearly_full])).unwrap();
        assert_eq!(choice.bytes, 1000);
    }

    #[test]
    fn nothing_is_sent_while_the_buffer_of_the_best_subflow_is_full() {
        let best = SubflowView {
            queue_limit_bytes: 10_000,
            ..queued(1, 10_000, 2_000_000)
        };
        let subflows = [queued(0, 8_000, 1_000_000), best];
        assert_eq!(Default::default().choose(&view(&subflows)), None);
    }

    #[test]
    fn the_average_rate_weighs_what_is_queued_against_the_burst() {
        let mut scheduler = Default::default();
        scheduler.choose(&view(&[queued(0, 0, 1_000_000)]));
        // Ten times the rate now, as much queued as the burst: the mean of both.
        scheduler.choose(&view(&[SubflowView {
            queue_limit_bytes: 1 << 20,
            ..queued(0, BURST_BYTES, 10_000_000)
        }]));
        assert_eq!(scheduler.rates, [(0, 5_500_000)]);
    }

    #[test]
    fn rates_of_subflows_that_are_gone_are_forgotten() {
        let mut scheduler = Default::default();
        for id in 0..100 {
            scheduler.choose(&view(&[queued(id, 0, 1_000_000)]));
        }
        assert!(scheduler.rates.len() <= 3);
    }
}

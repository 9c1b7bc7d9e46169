//! Data that are seen first after later data: sent again or overtaken.

use super::gaps::Opening;
use super::identification::Identifications;
use crate::Nanos;

/// Data that come sooner after later data than this were overtaken, where the round trip to their
/// sender is unknown.
const USUAL_REORDERING: Nanos = 3_000_000;

/// Evidence about the sender and the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// Identifications of the sender's packets.
    pub(super) identifications: &'a Identifications,
    /// Smallest round trip between the place of the capture and the sender.
    pub(super) upstream: Option<Nanos>,
    /// The receiver reported the loss before.
    pub(super) reported: bool,
}

/// Returns whether data that `late` shows for the first time had been sent before. Later data had
/// been seen with `opening`.
pub(super) fn is_sent_again(late: &Opening, opening: &Opening, evidence: Evidence<'_>) -> bool {
    sent_after(late, opening, evidence.identifications).unwrap_or_else(|| {
        let least = match evidence.upstream {
            Some(upstream) if evidence.reported => upstream,
            upstream => upstream.unwrap_or(0).max(USUAL_REORDERING),
        };
        late.at.saturating_sub(opening.at) >= least
    })
}

/// Returns whether one packet was sent after another, by its timestamp or identification. First
/// transmissions are in the order of their sequence numbers: one after later data is a
/// retransmission.
fn sent_after(one: &Opening, other: &Opening, identifications: &Identifications) -> Option<bool> {
    if let (Some(one), Some(other)) = (one.timestamp, other.timestamp) {
        match one.wrapping_sub(other) as i32 {
            0 => {}
            distance => return Some(distance > 0),
        }
    }
    identifications.is_after(one.identification, other.identification)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(at: Nanos, timestamp: Option<u32>, identification: Option<u16>) -> Opening {
        Opening {
            at,
            timestamp,
            identification,
        }
    }

    fn decide(late: Opening, opening: Opening, upstream: Option<Nanos>, reported: bool) -> bool {
        let mut counter = Identifications::default();
        for identification in 0..20 {
            counter.follow(Some(identification));
        }
        let evidence = Evidence {
            identifications: &counter,
            upstream,
            reported,
        };
        is_sent_again(&late, &opening, evidence)
    }

    #[test]
    fn timestamps_tell_first() {
        let opening = packet(0, Some(u32::MAX), Some(100));
        assert!(decide(packet(1, Some(0), Some(50)), opening, None, false));
        let overtaken = packet(1 << 40, Some(u32::MAX - 1), Some(150));
        assert!(!decide(overtaken, opening, None, true));
    }

    #[test]
    fn then_identifications() {
        let opening = packet(0, Some(5), Some(100));
        assert!(decide(packet(1, Some(5), Some(101)), opening, None, false));
        assert!(!decide(
            packet(1 << 40, Some(5), Some(99)),
            opening,
            None,
            true
        ));
        assert!(decide(packet(1, None, Some(101)), opening, None, false));
    }

    #[test]
    fn then_the_time() {
        let opening = packet(0, None, None);
        let at = |at| packet(at, None, None);
        assert!(!decide(at(2_999_999), opening, None, true));
        assert!(decide(at(3_000_000), opening, None, true));
        assert!(!decide(at(9_999_999), opening, Some(10_000_000), true));
        assert!(decide(at(10_000_000), opening, Some(10_000_000), true));
        // A receiver nearby has reported a loss at once.
        assert!(decide(at(50_000), opening, Some(50_000), true));
        assert!(!decide(at(50_000), opening, Some(50_000), false));
        assert!(decide(at(3_000_000), opening, Some(50_000), false));
    }
}

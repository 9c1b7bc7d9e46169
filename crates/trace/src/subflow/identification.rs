//! The order in which a host sent its IPv4 packets.

/// Largest step that passes for counting: hosts count packets, some those of all connections
/// together.
const LARGEST_STEP: u16 = 256;
/// Steps in a row that show a counter; by chance one of 256 random numbers would pass.
const ENOUGH: u8 = 8;
/// Evidence that a step which is none takes away.
const PENALTY: u8 = 4;

/// Identifications of one sender's packets (RFC 791): where they are a counter they tell which of
/// two packets was sent first. RFC 6864 lets a sender choose other values where fragmentation is
/// forbidden; Linux counts for each TCP connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Identifications {
    last: u16,
    steps: u8,
}

impl Identifications {
    /// Takes the identification of the next packet in the order of sequence numbers.
    #[inline]
    pub(super) fn follow(&mut self, identification: Option<u16>) {
        let Some(identification) = identification else {
            return;
        };
        let step = identification.wrapping_sub(self.last);
        self.last = identification;
        if (1..=LARGEST_STEP).contains(&step) {
            self.steps = (self.steps + 1).min(2 * ENOUGH);
        } else {
            self.steps = self.steps.saturating_sub(PENALTY);
        }
    }

    /// Returns whether the packet with `one` was sent after that with `other`, where that is known.
    pub(super) fn is_after(&self, one: Option<u16>, other: Option<u16>) -> Option<bool> {
        match one?.wrapping_sub(other?) as i16 {
            0 => None,
            distance => (self.steps >= ENOUGH).then_some(distance > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(seen: impl IntoIterator<Item = u16>) -> Identifications {
        let mut identifications = Identifications::default();
        for identification in seen {
            identifications.follow(Some(identification));
        }
        identifications
    }

    #[test]
    fn a_counter_tells_the_order_even_where_it_wraps() {
        let counter = after((0..20).map(|n| 65_530_u16.wrapping_add(2 * n)));
        assert_eq!(counter.is_after(Some(3), Some(65_535)), Some(true));
        assert_eq!(counter.is_after(Some(65_535), Some(3)), Some(false));
        assert_eq!(counter.is_after(Some(3), Some(3)), None);
        assert_eq!(counter.is_after(None, Some(3)), None);
    }

    #[test]
    fn neither_zeros_nor_random_numbers_tell_anything() {
        let zeros = after([0; 20]);
        assert_eq!(zeros.is_after(Some(1), Some(0)), None);
        let random = after((0..20).map(|n: u16| n.wrapping_mul(40_503)));
        assert_eq!(random.is_after(Some(1), Some(0)), None);
    }

    #[test]
    fn a_step_back_now_and_then_is_forgiven() {
        let mut counter = after(0..20);
        counter.follow(Some(10));
        assert_eq!(counter.is_after(Some(5), Some(4)), Some(true));
    }
}

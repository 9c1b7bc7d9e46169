//! The Internet checksum (RFC 1071).

/// A sum in progress: bytes are added in pieces of any length.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// One's complement sum of 16-bit words, carries not yet folded. Each piece adds less than
    /// 2¹⁶.
    total: u64,
    /// Whether an odd number of bytes was added: the next one is the low half of a word.
    odd: bool,
}

impl Sum {
    /// Adds bytes that follow those added before.
    pub fn add(&mut self, bytes: &[u8]) {
        let piece = words(bytes);
        // A piece that begins in the middle of a word has its halves swapped (RFC 1071, section 2).
        let piece = if self.odd { piece.swap_bytes() } else { piece };
        self.total += u64::from(piece);
        self.odd ^= bytes.len() % 2 == 1;
    }

    /// The checksum: the complement of the sum. It is zero over bytes that contain their own
    /// checksum.
    pub fn finish(self) -> u16 {
        !fold(self.total)
    }
}

/// The checksum of `bytes`.
pub fn internet(bytes: &[u8]) -> u16 {
    let mut sum = Sum::default();
    sum.add(bytes);
    sum.finish()
}

/// One's complement sum of the big-endian 16-bit words of `bytes`, the last padded with zero.
fn words(bytes: &[u8]) -> u16 {
    let (chunks, rest) = bytes.as_chunks::<4>();
    // Sums of 32-bit words are as good as those of 16, as 2¹⁶ ≡ 1 modulo 2¹⁶ − 1, and the order of
    // bytes is the same in a sum as in its words (RFC 1071, section 2).
    let mut total = chunks
        .iter()
        .map(|chunk| u64::from(u32::from_ne_bytes(*chunk)))
        .sum::<u64>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    total += u64::from(u32::from_ne_bytes(last));
    u16::from_be(fold(total))
}

/// The sum with its carries added back in.
fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total >> 16) + (total & 0xffff);
    }
    total as u16
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_rfc_1071_sums_up_to_ddf2() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(internet(&bytes), !0xddf2);
    }

    proptest! {
        #[test]
        fn pieces_sum_up_to_the_whole(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            cuts in prop::collection::vec(0_usize..200, 0..5),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut sum = Sum::default();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                sum.add(&bytes[from..cut]);
                from = cut;
            }
            let slow = bytes.chunks(2).fold(0_u32, |total, word| {
                let word = u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]);
                let total = total + u32::from(word);
                (total & 0xffff) + (total >> 16)
            });
            prop_assert_eq!(sum.finish(), !(slow as u16));
        }
    }
}

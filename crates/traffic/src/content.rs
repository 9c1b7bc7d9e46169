//! What transfers carry: bytes that a seed gives, so that the receiver can tell a wrong one.

use bytes::Bytes;

/// Period of the content. A prime, so that data shifted by segments or pages does not match.
const PERIOD: usize = 65_521;

/// The content that a seed gives: the same bytes again and again.
#[derive(Debug)]
pub struct Content {
    /// One period more than a part holds: from any place in the first one, a whole part is at hand.
    bytes: Bytes,
}

impl Content {
    /// The content of a seed, given out in parts of at most so many periods of 65,521 bytes.
    pub fn new(seed: u64, periods: usize) -> Self {
        let words = (1..).map(|index: u64| splitmix64(seed, index).to_le_bytes());
        let mut bytes: Vec<u8> = words.flatten().take(PERIOD).collect();
        for _ in 0..periods {
            bytes.extend_from_within(..PERIOD);
        }
        Self {
            bytes: bytes.into(),
        }
    }

    /// The bytes from `offset` on: at most `limit`, and at most one part.
    pub fn from(&self, offset: u64, limit: u64) -> Bytes {
        let start = (offset % PERIOD as u64) as usize;
        let part = self.bytes.len() - PERIOD;
        self.bytes
            .slice(start..start + limit.min(part as u64) as usize)
    }

    /// Where, at or after `offset`, `received` is not what was sent.
    pub fn first_difference(&self, mut offset: u64, mut received: &[u8]) -> Option<u64> {
        while !received.is_empty() {
            let start = (offset % PERIOD as u64) as usize;
            let length = received.len().min(self.bytes.len() - start);
            let expected = &self.bytes[start..start + length];
            let (part, rest) = received.split_at(length);
            if part != expected {
                let place = part
                    .iter()
                    .zip(expected)
                    .position(|(got, sent)| got != sent)?;
                return Some(offset + place as u64);
            }
            offset += part.len() as u64;
            received = rest;
        }
        None
    }
}

/// The `index`-th number of a seed's stream (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", 2014).
pub fn splitmix64(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: usize = 16;

    fn stream(content: &Content, mut offset: u64, length: u64) -> Vec<u8> {
        let end = offset + length;
        let mut bytes = Vec::new();
        while offset < end {
            let part = content.from(offset, end - offset);
            bytes.extend(&part);
            offset += part.len() as u64;
        }
        bytes
    }

    #[test]
    fn the_generator_gives_the_published_numbers() {
        // The first outputs for seed 1234567 of the reference implementation.
        assert_eq!(splitmix64(1_234_567, 1), 6_457_827_717_110_365_317);
        assert_eq!(splitmix64(1_234_567, 2), 3_203_168_211_198_807_973);
    }

    #[test]
    fn the_receiver_finds_the_first_wrong_byte() {
        let content = Content::new(1, PARTS);
        let mut bytes = stream(&content, 1000, 2_000_000);
        assert_eq!(content.first_difference(1000, &bytes), None);
        bytes[1_500_000] ^= 1;
        assert_eq!(content.first_difference(1000, &bytes), Some(1_501_000));
    }

    #[test]
    fn another_seed_or_another_place_is_another_content() {
        let content = Content::new(1, PARTS);
        assert!(
            Content::new(2, PARTS)
                .first_difference(0, &content.from(0, 100))
                .is_some()
        );
        assert!(
            content
                .first_difference(65_536, &content.from(0, 100))
                .is_some()
        );
    }
}

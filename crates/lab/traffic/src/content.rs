//! The content of transfers: bytes from a seed, so that the receiver can find a wrong one.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::Failure;

/// Period of the content. A prime, so that data shifted by segments or pages does not match.
const PERIOD: usize = 65_521;

/// Periods in the longest part that is given out at once: about a megabyte.
const PERIODS: usize = 16;

/// Seed of the bytes that all contents are taken from.
const SEED: u64 = 0x6d70_7463_706c_6162;

/// One period more than a part holds: from any place in the first one, a whole part is at hand.
/// It lasts as long as the program, so that parts are passed on without being counted.
static STREAM: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let words = (1..).map(|index: u64| splitmix64(SEED, index).to_le_bytes());
    let mut bytes: Vec<u8> = words.flatten().take(PERIOD).collect();
    for _ in 0..PERIODS {
        bytes.extend_from_within(..PERIOD);
    }
    bytes
});

/// The content that a seed gives: a stream of the same bytes again and again, in which the seed
/// chooses the begin.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    begin: u64,
}

impl Content {
    /// The content of a seed. The first one makes the bytes, which takes most of a millisecond: a
    /// program that has its content before it connects does not wait for that when it writes.
    pub fn new(seed: u64) -> Self {
        LazyLock::force(&STREAM);
        Self {
            begin: splitmix64(seed, 0) % PERIOD as u64,
        }
    }

    /// The bytes from `offset` on: at most `limit`, and at most a megabyte.
    pub fn from(&self, offset: u64, limit: u64) -> Bytes {
        let start = self.place(offset);
        let part = limit.min((PERIODS * PERIOD) as u64) as usize;
        Bytes::from_static(&STREAM[start..start + part])
    }

    /// The first place, at or after `offset`, at which `received` differs from the content.
    pub fn first_difference(&self, mut offset: u64, mut received: &[u8]) -> Option<u64> {
        while !received.is_empty() {
            let start = self.place(offset);
            let length = received.len().min(STREAM.len() - start);
            let expected = &STREAM[start..start + length];
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

    /// Checks the bytes received at `offset`.
    ///
    /// # Errors
    /// Names the first byte that is wrong.
    pub fn check(&self, offset: u64, received: &[u8]) -> Result<(), Failure> {
        match self.first_difference(offset, received) {
            Some(place) => Err(Failure::Other(format!(
                "byte {place} is not the one that was sent"
            ))),
            None => Ok(()),
        }
    }

    /// Place of the byte at `offset` in the first period of the stream.
    fn place(&self, offset: u64) -> usize {
        ((offset + self.begin) % PERIOD as u64) as usize
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
        let content = Content::new(1);
        let mut bytes = stream(&content, 1000, 2_000_000);
        assert_eq!(content.first_difference(1000, &bytes), None);
        bytes[1_500_000] ^= 1;
        assert_eq!(content.first_difference(1000, &bytes), Some(1_501_000));
    }

    #[test]
    fn another_seed_or_another_place_is_another_content() {
        let content = Content::new(1);
        assert!(
            Content::new(2)
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

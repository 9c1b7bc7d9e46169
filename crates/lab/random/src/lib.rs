//! Streams of random numbers, one for each purpose, so that drawing from one moves no other.
//!
//! Both engines have the same streams for the same seed, and a seed means the same numbers on every
//! machine: ChaCha8, and the logarithm of `libm`.

#![no_std]
#![forbid(unsafe_code)]

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The purpose of a stream; its number is part of the meaning of a seed.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Initial sequence numbers, keys and ports of a host.
    Stack = 1,
    /// The choice of a router between equally good routes.
    Routes = 2,
    /// The choices of a middlebox.
    Middlebox = 3,
    /// Bursts and pauses of datagrams.
    Datagrams = 4,
    /// The choices of the controller of the switches.
    Controller = 5,
    /// The times that a host takes to handle packets.
    Host = 6,
}

/// Numbers of one stream.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of a run's seed for the `index`-th object of a purpose.
    pub fn new(seed: u64, purpose: Purpose, index: usize) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        // The streams of the links have zeros here (`mptcplab_link`).
        key[8..16].copy_from_slice(&(purpose as u64).to_le_bytes());
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(index as u64);
        Self(generator)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// True with this probability, to the nearest 2⁻⁵³.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Uniform over the whole numbers from 0 to below `count`, to less than 2⁻³² of each.
    pub fn below(&mut self, count: u32) -> u32 {
        let high = self.0.next_u64() >> 32;
        ((high * u64::from(count)) >> 32) as u32
    }

    /// Exponentially distributed with this mean; at least 1.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let value = -libm::log(1.0 - self.unit()) * mean as f64;
        (value as u64).max(1)
    }

    /// Uniform over the multiples of 2⁻⁵³ from 0 to below 1.
    fn unit(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_purposes_and_things_differ() {
        let first = |purpose, index| Random::new(1, purpose, index).bits();
        assert_ne!(first(Purpose::Routes, 0), first(Purpose::Middlebox, 0));
        assert_ne!(first(Purpose::Routes, 0), first(Purpose::Routes, 1));
        assert_eq!(first(Purpose::Routes, 1), first(Purpose::Routes, 1));
    }

    #[test]
    fn exponential_numbers_have_the_mean_that_was_asked_for() {
        let mut random = Random::new(1, Purpose::Datagrams, 0);
        let sum: u64 = (0..100_000).map(|_| random.exponential(1_000_000)).sum();
        let mean = sum / 100_000;
        assert!((985_000..1_015_000).contains(&mean), "{mean}");
    }
}

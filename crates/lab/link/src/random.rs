//! Streams of random numbers, one for each direction and purpose.
//!
//! All streams of a link are streams of one ChaCha8 generator keyed by the seed; so they are
//! independent of each other, and what one purpose draws moves no other. Logarithm and cosine come
//! from `libm`, as those of the platform may differ in the last bit.

use alloc::boxed::Box;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Purpose of a stream; the number is part of a seed's meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Loss = 0,
    Duplication = 1,
    Jitter = 2,
    Reordering = 3,
}

/// Numbers of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed: u64,
    stream: u64,
    /// Made for the first number: it is large, and most links draw none.
    generator: Option<Box<ChaCha8Rng>>,
}

impl Random {
    pub(crate) fn new(seed: u64, direction: usize, purpose: Purpose) -> Self {
        Self {
            seed,
            stream: 4 * direction as u64 + purpose as u64,
            generator: None,
        }
    }

    fn bits(&mut self) -> u64 {
        let (seed, stream) = (self.seed, self.stream);
        let generator = self.generator.get_or_insert_with(|| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&seed.to_le_bytes());
            let mut generator = ChaCha8Rng::from_seed(key);
            generator.set_stream(stream);
            Box::new(generator)
        });
        generator.next_u64()
    }

    /// True with this probability, to the nearest 2⁻⁵³; draws one number.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Uniform over the multiples of 2⁻⁵³ from 0 to below 1.
    fn unit(&mut self) -> f64 {
        const UNIT: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits() >> 11) as f64 * UNIT
    }

    /// Uniform over the whole numbers from 0 to `largest`.
    ///
    /// The high half of a product with 64 random bits; the probabilities of two values differ by
    /// less than 2⁻⁶⁴, which nothing here can see.
    pub(crate) fn up_to(&mut self, largest: u64) -> u64 {
        let values = u128::from(largest) + 1;
        ((u128::from(self.bits()) * values) >> 64) as u64
    }

    /// Normal with mean 0 and standard deviation 1, never beyond ±[`LARGEST_NORMAL`] (Box and
    /// Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(core::f64::consts::TAU * self.unit())
    }
}

/// Above √(−2 ln 2⁻⁵³) ≈ 8.572, what [`Random::normal`] can reach.
pub(crate) const LARGEST_NORMAL: f64 = 8.58;

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn streams_of_different_purposes_directions_and_seeds_differ() {
        let first = |seed, direction, purpose| {
            let mut random = Random::new(seed, direction, purpose);
            random.up_to(u64::MAX)
        };
        let mut numbers = vec![first(8, 0, Purpose::Loss)];
        for direction in 0..2 {
            for purpose in [
                Purpose::Loss,
                Purpose::Duplication,
                Purpose::Jitter,
                Purpose::Reordering,
            ] {
                numbers.push(first(7, direction, purpose));
            }
        }
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }

    #[test]
    fn a_seed_means_the_same_numbers_for_ever() {
        let mut random = Random::new(1, 1, Purpose::Jitter);
        let numbers: Vec<u64> = (0..4).map(|_| random.up_to(999_999)).collect();
        assert_eq!(numbers, [296_598, 116_349, 65_476, 578_089]);
        assert_eq!(random.normal().to_bits(), 13_826_050_997_975_357_324);
    }

    #[test]
    fn probability_zero_is_never_and_one_is_always() {
        let mut random = Random::new(1, 0, Purpose::Loss);
        assert!((0..10_000).all(|_| !random.chance(0.0)));
        assert!((0..10_000).all(|_| random.chance(1.0)));
    }

    #[test]
    fn whole_numbers_reach_both_ends_evenly() {
        let mut random = Random::new(1, 0, Purpose::Jitter);
        let mut seen = [0_u32; 3];
        for _ in 0..30_000 {
            seen[random.up_to(2) as usize] += 1;
        }
        // Five standard deviations of a binomial of 30 000 and one third.
        assert!(
            seen.iter().all(|&count| count.abs_diff(10_000) < 410),
            "{seen:?}"
        );
    }

    #[test]
    fn the_normal_distribution_has_its_moments() {
        let mut random = Random::new(1, 0, Purpose::Jitter);
        let values: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let moment = |power| {
            values
                .iter()
                .map(|value: &f64| value.powi(power))
                .sum::<f64>()
                / 100_000.0
        };
        // Five standard errors: √(1, 2, 15, 96 / 100 000).
        assert!(moment(1).abs() < 0.016, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.023, "{}", moment(2));
        assert!(moment(3).abs() < 0.062, "{}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.155, "{}", moment(4));
    }
}

//! Random numbers of a host, one stream for each purpose.

use alloc::boxed::Box;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Purpose of a stream; the number is part of a seed's meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// Initial sequence numbers.
    Sequence = 0,
    /// Local ports.
    Port = 1,
    /// Keys of MPTCP.
    Key = 2,
    /// Nonces of MPTCP.
    Nonce = 3,
    /// Times until the path managers' worker begins.
    Worker = 4,
}

/// All streams of a host: a draw for one purpose moves no other.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed: u64,
    /// Generators by purpose, each made for the first number: they are large, and a host of TCP
    /// draws for few purposes.
    generators: [Option<Box<ChaCha8Rng>>; 5],
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            generators: [const { None }; 5],
        }
    }

    /// The next number of a stream.
    pub(crate) fn next(&mut self, purpose: Purpose) -> u64 {
        let seed = self.seed;
        let generator = self.generators[purpose as usize].get_or_insert_with(|| {
            let mut key = [0; 32];
            key[..8].copy_from_slice(&seed.to_le_bytes());
            let mut generator = ChaCha8Rng::from_seed(key);
            generator.set_stream(purpose as u64);
            Box::new(generator)
        });
        generator.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_do_not_move_each_other() {
        let mut first = Random::new(1);
        let mut second = Random::new(1);
        for _ in 0..10 {
            second.next(Purpose::Port);
        }
        assert_eq!(first.next(Purpose::Key), second.next(Purpose::Key));
        assert_ne!(first.next(Purpose::Key), first.next(Purpose::Nonce));
    }
}

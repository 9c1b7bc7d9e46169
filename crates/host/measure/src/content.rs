//! Payload: bytes of chance, which nothing on the way can compress.

use std::sync::OnceLock;

/// Length after which it begins again: more than what a compressor on a path looks back.
const BYTES: usize = 1 << 20;
const WORD_BYTES: usize = 8;

/// The payload. It is the same in a process, and not secret.
pub(crate) fn content() -> &'static [u8] {
    static CONTENT: OnceLock<Vec<u8>> = OnceLock::new();
    CONTENT.get_or_init(|| of_seed(u64::from_ne_bytes(crate::authorisation::random()), BYTES))
}

/// The payload that a connection carries each way where both ends compare it: both know the nonce of
/// the experiment, and the connection's place in it.
pub(crate) fn known(nonce: &[u8], place: u8, bytes: usize) -> Vec<u8> {
    // FNV-1a: Fowler, Noll, Vo; RFC 9923.
    let mixed = nonce
        .iter()
        .chain([&place])
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
    of_seed(mixed, bytes)
}

fn of_seed(seed: u64, bytes: usize) -> Vec<u8> {
    // xorshift64: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8 (14), 2003.
    let mut state = seed | 1;
    let mut words = Vec::with_capacity(bytes + WORD_BYTES);
    while words.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        words.extend_from_slice(&state.to_be_bytes());
    }
    words.truncate(bytes);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_is_each_connections_own() {
        let one = known(b"nonce", 0, 100);
        assert_eq!(one, known(b"nonce", 0, 100));
        assert_ne!(one, known(b"nonce", 1, 100));
        assert_ne!(one, known(b"other", 0, 100));
        assert_eq!(known(b"nonce", 0, 3), one[..3]);
    }
}

//! Payload: random bytes, which nothing on the way can compress.

use std::sync::OnceLock;

/// Length after which it begins again: more than what a compressor on a path looks back.
const BYTES: usize = 1 << 20;

/// The payload. It is the same in a process, and not secret.
pub(crate) fn content() -> &'static [u8] {
    static CONTENT: OnceLock<Vec<u8>> = OnceLock::new();
    CONTENT.get_or_init(|| {
        // xorshift64: Marsaglia, Xorshift RNGs, Journal of Statistical Software 8 (14), 2003.
        let mut state = u64::from_ne_bytes(crate::authorisation::random()) | 1;
        let mut words = Vec::with_capacity(BYTES);
        while words.len() < BYTES {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words.extend_from_slice(&state.to_ne_bytes());
        }
        words
    })
}

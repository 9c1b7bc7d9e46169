//! Data of the transfers: every byte depends on its place, so that none can be lost, doubled or
//! moved.

/// Bytes of the stream `stream` from place `at` on.
pub(crate) fn fill(stream: u8, at: u64, bytes: &mut [u8]) {
    for (place, byte) in (at..).zip(bytes) {
        *byte = value(stream, place);
    }
}

/// Whether `bytes` are those of the stream from place `at` on.
pub(crate) fn is_exact(stream: u8, at: u64, bytes: &[u8]) -> bool {
    (at..)
        .zip(bytes)
        .all(|(place, byte)| *byte == value(stream, place))
}

/// The middle of a product with an odd constant, which has a period of 2²⁴ places.
fn value(stream: u8, place: u64) -> u8 {
    (place.wrapping_mul(0x9e37_79b9) >> 16) as u8 ^ stream
}

//! The buffer in which headers are written.

use arrayvec::ArrayVec;

/// Most bytes of headers: IPv6 (40) and TCP with all its options (60).
pub const MAX_HEADER_BYTES: usize = 100;

/// Bytes of the headers of a packet.
pub(crate) type Header = ArrayVec<u8, MAX_HEADER_BYTES>;

/// Appends `bytes`, for which the caller has made sure that there is room.
#[inline]
pub(crate) fn put(header: &mut Header, bytes: &[u8]) {
    header
        .try_extend_from_slice(bytes)
        .expect("headers fit MAX_HEADER_BYTES");
}

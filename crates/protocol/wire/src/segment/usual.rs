//! The options that nearly all segments have, written and read at once: timestamps, and one DSS of
//! MPTCP with 8-byte numbers and without a checksum.
//!
//! The result is that of [`Options::write`] and [`Options::parse`], which go option by option;
//! tests compare the two.

use super::options::kind;
use super::{Options, Timestamps};
use crate::option::{self, DataNumber, Dss, Mapping, MptcpOption, dss_begin};

/// Bytes of timestamps with the padding before them.
const TIMESTAMPS_BYTES: usize = 12;
/// Bytes of the longest DSS that is written here, with the padding before it.
const DSS_BYTES: usize = 28;

/// Usual options in their bytes.
pub(super) struct Usual {
    bytes: [u8; TIMESTAMPS_BYTES + DSS_BYTES],
    len: usize,
}

impl Usual {
    /// The bytes of options; `None` where they are not the usual ones.
    #[inline]
    pub(super) fn new(options: &Options) -> Option<Self> {
        let Options {
            max_segment_bytes: None,
            window_shift: None,
            sack_permitted: false,
            timestamps: Some(timestamps),
            sack,
            mptcp,
        } = options
        else {
            return None;
        };
        if !sack.is_empty() {
            return None;
        }
        let mut usual = Self {
            bytes: [0; TIMESTAMPS_BYTES + DSS_BYTES],
            len: TIMESTAMPS_BYTES,
        };
        let (first, rest) = usual.bytes.split_at_mut(TIMESTAMPS_BYTES);
        first[..4].copy_from_slice(&PADDED_TIMESTAMPS);
        first[4..8].copy_from_slice(&timestamps.value.to_be_bytes());
        first[8..].copy_from_slice(&timestamps.echo.to_be_bytes());
        match mptcp.as_slice() {
            [] => {}
            [MptcpOption::Dss(dss)] => usual.len += write_dss(dss, rest)?,
            _ => return None,
        }
        Some(usual)
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Kind and length of timestamps, with the padding before them.
const PADDED_TIMESTAMPS: [u8; 4] = [kind::NO_OPERATION, kind::NO_OPERATION, kind::TIMESTAMPS, 10];

/// Writes a DSS with the padding before it; gives how many bytes that are.
#[inline]
fn write_dss(dss: &Dss, to: &mut [u8]) -> Option<usize> {
    let Some(DataNumber::Long(acknowledgement)) = dss.acknowledgement else {
        return None;
    };
    let acknowledgement = acknowledgement.to_be_bytes();
    let [subtype, flags] = dss_begin(dss);
    match dss.mapping {
        None => {
            to[..4].copy_from_slice(&[option::KIND, 12, subtype, flags]);
            to[4..12].copy_from_slice(&acknowledgement);
            Some(12)
        }
        Some(Mapping {
            data_sequence: DataNumber::Long(data_sequence),
            subflow_sequence,
            bytes,
            checksum: None,
        }) => {
            to[..2].copy_from_slice(&[kind::NO_OPERATION; 2]);
            to[2..6].copy_from_slice(&[option::KIND, 26, subtype, flags]);
            to[6..14].copy_from_slice(&acknowledgement);
            to[14..22].copy_from_slice(&data_sequence.to_be_bytes());
            to[22..26].copy_from_slice(&subflow_sequence.to_be_bytes());
            to[26..28].copy_from_slice(&bytes.to_be_bytes());
            Some(28)
        }
        Some(_) => None,
    }
}

/// Reads usual options at the front of some bytes. Gives what is left to be read one by one:
/// nothing, where all are usual.
#[inline]
pub(super) fn read<'a>(bytes: &'a [u8], options: &mut Options) -> &'a [u8] {
    let Some((timestamps, rest)) = bytes.split_first_chunk::<TIMESTAMPS_BYTES>() else {
        return bytes;
    };
    let &[a, b, c, d, value @ .., e, f, g, h] = timestamps;
    if [a, b, c, d] != PADDED_TIMESTAMPS {
        return bytes;
    }
    options.timestamps = Some(Timestamps {
        value: u32::from_be_bytes(value),
        echo: u32::from_be_bytes([e, f, g, h]),
    });
    let rest = match rest {
        [kind::NO_OPERATION, kind::NO_OPERATION, rest @ ..] => rest,
        _ => rest,
    };
    match rest {
        [option::KIND, length, body @ ..] if usize::from(*length) == rest.len() => {
            if let Some(option) = option::read(body) {
                options.mptcp.push(option);
            }
            &[]
        }
        _ => rest,
    }
}

//! DSS: acknowledgements and mappings of data, and the checksum of mapped data (RFC 8684,
//! section 3.3).

use crate::checksum::Sum;

/// DSS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dss {
    /// F: the mapping ends the data in this direction; its last byte is the DATA_FIN.
    pub data_fin: bool,
    /// DATA_ACK.
    pub acknowledgement: Option<DataNumber>,
    /// The mapping.
    pub mapping: Option<Mapping>,
}

/// A data sequence number as it stands in an option: all of it, or its low half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataNumber {
    /// 8 bytes.
    Long(u64),
    /// 4 bytes.
    Short(u32),
}

impl DataNumber {
    /// Bytes that it takes in an option.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Long(_) => 8,
            Self::Short(_) => 4,
        }
    }
}

/// A mapping of subflow bytes to data bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Data sequence number of the first byte.
    pub data_sequence: DataNumber,
    /// Its subflow sequence number, relative to the initial one: 1 is the first byte of data.
    pub subflow_sequence: u32,
    /// Bytes mapped, DATA_FIN included; 0 is the infinite mapping (section 3.7).
    pub bytes: u16,
    /// Checksum over the data and the pseudo-header, where checksums are used.
    pub checksum: Option<u16>,
}

/// The begin of a data checksum (RFC 8684, section 3.3.1): the pseudo-header of `mapping`,
/// whose data sequence number in full is `data_sequence`. The mapped data are added to it in order,
/// without a DATA_FIN, which has no byte in the segment; [`Sum::finish`] then gives the checksum.
pub fn data_pseudo_header(data_sequence: u64, mapping: &Mapping) -> Sum {
    let mut sum = Sum::default();
    sum.add(&data_sequence.to_be_bytes());
    sum.add(&mapping.subflow_sequence.to_be_bytes());
    sum.add(&mapping.bytes.to_be_bytes());
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_checksum_covers_number_offset_length_and_data() {
        let mapping = Mapping {
            data_sequence: DataNumber::Short(0x0506_0708),
            subflow_sequence: 0x0a0b_0c0d,
            bytes: 3,
            checksum: None,
        };
        let mut sum = data_pseudo_header(0x0102_0304_0506_0708, &mapping);
        sum.add(b"\xff\xfe\xfd");
        // 0102 + 0304 + 0506 + 0708 + 0a0b + 0c0d + 0003 + fffe + fd00 = 2232d, with its carry 232f
        assert_eq!(sum.finish(), !0x232f);
    }
}

//! Rows of the mappings that a segment has.

use mptcplab_wire::option::{Capable, DataNumber, MptcpOption};

use crate::tables::MappingRow;
use crate::{Connection, DataVerdict, Place, Segment};

/// Adds the row of each mapping in a segment that `connection` has taken.
pub(super) fn add(
    segment: &Segment,
    place: Place,
    data: &DataVerdict,
    connection: &Connection,
    mut add: impl FnMut(MappingRow),
) {
    let row = |number, subflow_sequence, bytes, data_fin, checksum: Option<u16>| {
        let (raw_data_sequence, data_sequence_bytes) = match number {
            DataNumber::Long(number) => (number, 8),
            DataNumber::Short(number) => (u64::from(number), 4),
        };
        MappingRow {
            connection: place.connection,
            subflow: place.subflow,
            from: place.from,
            t_ns: segment.at,
            frame: segment.frame,
            data_sequence: connection.data_sequence(place.from, number),
            raw_data_sequence,
            data_sequence_bytes,
            subflow_sequence,
            bytes,
            data_fin,
            checksum,
            checksum_valid: checksum.and(data.checksum_valid),
        }
    };
    for option in &segment.options.mptcp {
        match option {
            MptcpOption::Dss(dss) => {
                if let Some(mapping) = &dss.mapping {
                    add(row(
                        mapping.data_sequence,
                        mapping.subflow_sequence,
                        mapping.bytes,
                        dss.data_fin,
                        mapping.checksum,
                    ));
                }
            }
            MptcpOption::Capable(Capable {
                data_bytes: Some(bytes),
                data_checksum,
                ..
            }) => {
                // It maps the first bytes (RFC 8684, section 3.1).
                let first = connection.wire_data_sequence(place.from, 1);
                let number = DataNumber::Long(first.unwrap_or(1));
                add(row(number, 1, *bytes, false, *data_checksum));
            }
            _ => {}
        }
    }
}

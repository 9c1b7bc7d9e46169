//! Connections get the numbers of the order of their first packets.
//!
//! A flow may be pending until its connection is known, and become one after others that began
//! later. What was written of them until then has the numbers of the order in which they became
//! known.

use std::path::Path;

use super::worker::Analysis;
use crate::tables::{EventRow, MappingRow, PacketRow, SampleRow, TableError, renumber};

/// Renumbers the tables in `folder` that grew while a capture was read, with those of single
/// packets where `packets`, and puts `analyses` into the new order. `order` has the old number of
/// each new one.
///
/// # Errors
/// The file system's.
pub(super) fn by_first_packets(
    order: &[u32],
    folder: &Path,
    packets: bool,
    analyses: &mut [(u32, Analysis)],
) -> Result<(), TableError> {
    let mut numbers = vec![0; order.len()];
    for (number, &old) in (0..).zip(order) {
        numbers[old as usize] = number;
    }
    analyses.sort_unstable_by_key(|(old, _)| numbers[*old as usize]);
    renumber::<SampleRow>(folder, &numbers)?;
    renumber::<EventRow>(folder, &numbers)?;
    if packets {
        renumber::<PacketRow>(folder, &numbers)?;
        renumber::<MappingRow>(folder, &numbers)?;
    }
    Ok(())
}

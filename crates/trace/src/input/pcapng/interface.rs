//! Interface description blocks.

use super::LinkType;
use super::clock::Clock;
use crate::input::options;
use crate::input::order::Order;

/// Options of the block.
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const NAME: u16 = 2;
    pub(super) const TIME_RESOLUTION: u16 = 9;
    pub(super) const TIME_OFFSET: u16 = 14;
}

/// Most bytes of a name that are kept.
const MAX_NAME_BYTES: usize = 256;
/// Microseconds: what counts where nothing is said.
const USUAL_RESOLUTION: u8 = 6;

/// Description of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::input) struct Described {
    pub(in crate::input) link_type: LinkType,
    /// Most bytes of a frame that are captured; 0 is no limit.
    pub(in crate::input) snap_bytes: u32,
    pub(in crate::input) name: Option<String>,
    pub(super) clock: Clock,
    /// Its options as a file that is written has them.
    pub(in crate::input) options: Vec<u8>,
}

impl Described {
    /// Returns whether it is said of the same interface, in another section.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.link_type == other.link_type && self.name == other.name
    }
}

/// Reads a block without its last length.
pub(super) fn describe(order: Order, block: &[u8]) -> Result<Described, String> {
    let Some((fields, mut options)) = block.split_first_chunk::<16>() else {
        return Err("the description of an interface without its fields".into());
    };
    let kept = options::interface(order, options);
    let mut name = None;
    let mut resolution = USUAL_RESOLUTION;
    let mut offset_seconds = 0;
    while let Some((header, after)) = options.split_first_chunk::<4>() {
        let (code, bytes) = (order.u16(header, 0), usize::from(order.u16(header, 2)));
        let Some(value) = after.get(..bytes) else {
            return Err("the description of an interface with an option beyond its end".into());
        };
        match (code, value) {
            (option::END, _) => break,
            (option::NAME, _) => {
                let value = &value[..value.len().min(MAX_NAME_BYTES)];
                let text = String::from_utf8_lossy(value);
                name = Some(text.trim_end_matches('\0').to_owned());
            }
            (option::TIME_RESOLUTION, &[value]) => resolution = value,
            (option::TIME_OFFSET, _) => {
                if let Ok(value) = value.try_into() {
                    offset_seconds = order.u64(value) as i64;
                }
            }
            _ => {}
        }
        options = after.get(bytes.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(Described {
        link_type: LinkType(order.u16(fields, 8)),
        snap_bytes: order.u32(fields, 12),
        name,
        clock: Clock::new(resolution, offset_seconds),
        options: kept,
    })
}

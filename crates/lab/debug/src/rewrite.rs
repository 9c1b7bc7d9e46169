//! Changes of the next packet of a link: fields, flags, options and payload.

use std::net::IpAddr;

use mptcplab_engine_sim::Rewrite;
use mptcplab_wire::Segment;
use mptcplab_wire::option::MptcpOption;
use serde::Deserialize;

use crate::error::DebugError;
use crate::segment_field::{FIELDS, Field};

/// Bytes of payload that are given by hand at most.
const MOST_PAYLOAD_BYTES: usize = 9000;

/// A change of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// A field gets a value.
    Set {
        /// Name of the field.
        field: String,
        /// The value.
        value: u64,
    },
    /// A field gets so much more, and begins again from 0 beyond its most.
    Add {
        /// Name of the field.
        field: String,
        /// The addend.
        value: u64,
    },
    /// A field gets so much less.
    Subtract {
        /// Name of the field.
        field: String,
        /// The subtrahend.
        value: u64,
    },
    /// Flags are set or cleared.
    Flags {
        /// Bits of the flags' byte to set.
        set: u8,
        /// Those to clear.
        clear: u8,
    },
    /// The address of ADD_ADDR is another one, of the same family.
    Address(IpAddr),
    /// An option is taken out.
    Without(Taken),
    /// Bytes of the payload are others.
    Payload {
        /// Place of the first in the payload; all of it is replaced where none.
        at: Option<usize>,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// An option that is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Taken {
    /// Maximum segment size.
    Mss,
    /// Window scale.
    WindowScale,
    /// SACK permitted.
    SackPermitted,
    /// SACK.
    Sack,
    /// Timestamps.
    Timestamps,
    /// MP_CAPABLE.
    MpCapable,
    /// MP_JOIN.
    MpJoin,
    /// DSS.
    Dss,
    /// ADD_ADDR.
    AddAddr,
    /// REMOVE_ADDR.
    RemoveAddr,
    /// MP_PRIO.
    MpPrio,
    /// MP_FAIL.
    MpFail,
    /// MP_FASTCLOSE.
    MpFastclose,
    /// MP_TCPRST.
    MpTcprst,
}

/// Changes that are made together, of segments that have all that they name.
#[derive(Clone, Debug)]
pub(crate) struct Edits(Vec<Made>);

/// An edit whose field has been looked up.
#[derive(Clone, Debug)]
enum Made {
    Set(Field, u64),
    Add(Field, u64),
    Other(Edit),
}

impl Edits {
    /// # Errors
    /// A field that there is not, or a value that does not fit into it.
    pub(crate) fn new(edits: &[Edit]) -> Result<Self, DebugError> {
        if edits.is_empty() {
            return Err(DebugError::Change("nothing is to be changed".to_owned()));
        }
        edits.iter().map(made).collect::<Result<_, _>>().map(Self)
    }
}

impl Rewrite for Edits {
    fn rewrite(&self, segment: &mut Segment) -> bool {
        let mut changed = segment.clone();
        let is_changed = self.0.iter().all(|edit| edit.make(&mut changed));
        if is_changed {
            *segment = changed;
        }
        is_changed
    }
}

/// The names of all fields.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    FIELDS.iter().map(|(name, ..)| *name)
}

fn made(edit: &Edit) -> Result<Made, DebugError> {
    match edit {
        Edit::Set { field, value } => {
            let (field, bits) = field_named(field)?;
            if bits < u64::BITS && value >> bits != 0 {
                let problem = format!("{value} does not fit into {bits} bits");
                return Err(DebugError::Change(problem));
            }
            Ok(Made::Set(field, *value))
        }
        Edit::Add { field, value } => Ok(Made::Add(field_named(field)?.0, *value)),
        Edit::Subtract { field, value } => {
            let (field, _) = field_named(field)?;
            Ok(Made::Add(field, value.wrapping_neg()))
        }
        Edit::Payload { bytes, .. } if bytes.len() > MOST_PAYLOAD_BYTES => {
            let problem = format!(
                "{} bytes of payload: {MOST_PAYLOAD_BYTES} at most",
                bytes.len()
            );
            Err(DebugError::Change(problem))
        }
        other => Ok(Made::Other(other.clone())),
    }
}

fn field_named(name: &str) -> Result<(Field, u32), DebugError> {
    let found = FIELDS.iter().find(|(known, ..)| *known == name);
    let (_, field, bits) = found.ok_or_else(|| {
        let names = field_names().collect::<Vec<_>>().join(", ");
        DebugError::Name(format!("there is no field {name:?}; there are {names}"))
    })?;
    Ok((*field, *bits))
}

impl Made {
    /// Makes it; false where the segment has nothing that it is about.
    fn make(&self, segment: &mut Segment) -> bool {
        match self {
            Self::Set(field, value) => field.change(segment, |_| *value),
            Self::Add(field, value) => field.change(segment, |old| old.wrapping_add(*value)),
            Self::Other(edit) => edit.make(segment),
        }
    }
}

impl Edit {
    fn make(&self, segment: &mut Segment) -> bool {
        match self {
            Self::Flags { set, clear } => {
                segment.flags = segment.flags.with(*set, *clear);
                true
            }
            Self::Address(to) => segment.options.mptcp.iter_mut().any(|option| match option {
                MptcpOption::AddAddress(add) if add.address.is_ipv4() == to.is_ipv4() => {
                    add.address = *to;
                    true
                }
                _ => false,
            }),
            Self::Without(option) => option.take(segment),
            Self::Payload { at, bytes } => replace(segment, *at, bytes),
            Self::Set { .. } | Self::Add { .. } | Self::Subtract { .. } => false,
        }
    }
}

fn replace(segment: &mut Segment, at: Option<usize>, bytes: &[u8]) -> bool {
    if segment.payload.is_empty() {
        return false;
    }
    let Some(at) = at else {
        segment.payload = bytes.to_vec().into();
        return true;
    };
    let mut payload = segment.payload.to_vec();
    let end = at.saturating_add(bytes.len());
    let Some(part) = payload.get_mut(at..end) else {
        return false;
    };
    part.copy_from_slice(bytes);
    segment.payload = payload.into();
    true
}

impl Taken {
    /// Takes it out; false where the segment does not have it.
    fn take(self, segment: &mut Segment) -> bool {
        let options = &mut segment.options;
        match self {
            Self::Mss => options.max_segment_bytes.take().is_some(),
            Self::WindowScale => options.window_shift.take().is_some(),
            Self::SackPermitted => std::mem::take(&mut options.sack_permitted),
            Self::Sack => !std::mem::take(&mut options.sack).is_empty(),
            Self::Timestamps => options.timestamps.take().is_some(),
            _ => {
                let before = options.mptcp.len();
                options.mptcp.retain(|option| !self.is(option));
                options.mptcp.len() < before
            }
        }
    }

    fn is(self, option: &MptcpOption) -> bool {
        matches!(
            (self, option),
            (Self::MpCapable, MptcpOption::Capable(_))
                | (Self::MpJoin, MptcpOption::Join(_))
                | (Self::Dss, MptcpOption::Dss(_))
                | (Self::AddAddr, MptcpOption::AddAddress(_))
                | (Self::RemoveAddr, MptcpOption::RemoveAddress(_))
                | (Self::MpPrio, MptcpOption::Priority { .. })
                | (Self::MpFail, MptcpOption::Fail { .. })
                | (Self::MpFastclose, MptcpOption::FastClose { .. })
                | (Self::MpTcprst, MptcpOption::Reset(_))
        )
    }
}

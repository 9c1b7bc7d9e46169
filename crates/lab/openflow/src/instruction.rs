//! Instructions of flow entries (section 7.2.4).

use alloc::vec::Vec;

use crate::action::{self, Action};
use crate::error::{BadAction, BadInstruction, ErrorKind};
use crate::reader::Reader;
use crate::writer::Put;

/// Numbers of the types of instructions.
pub mod kind {
    /// Go to a later table.
    pub const GOTO_TABLE: u16 = 1;
    /// Write metadata.
    pub const WRITE_METADATA: u16 = 2;
    /// Write actions into the action set.
    pub const WRITE_ACTIONS: u16 = 3;
    /// Apply actions at once.
    pub const APPLY_ACTIONS: u16 = 4;
    /// Clear the action set.
    pub const CLEAR_ACTIONS: u16 = 5;
    /// Apply a meter.
    pub const METER: u16 = 6;
    /// An experimenter's instruction.
    pub const EXPERIMENTER: u16 = 0xffff;
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Goes on with a later table.
    GotoTable(u8),
    /// Writes bits of the metadata.
    WriteMetadata {
        /// The bits.
        metadata: u64,
        /// The bits that are written.
        mask: u64,
    },
    /// Writes actions into the action set.
    WriteActions(Vec<Action>),
    /// Applies actions at once, in their order.
    ApplyActions(Vec<Action>),
    /// Clears the action set.
    ClearActions,
    /// Applies a meter.
    Meter(u32),
    /// An experimenter's instruction.
    Experimenter {
        /// The experimenter id.
        experimenter: u32,
        /// The rest; a multiple of 8 bytes.
        data: Vec<u8>,
    },
}

impl Instruction {
    /// The number of the type.
    pub fn kind(&self) -> u16 {
        match self {
            Self::GotoTable(_) => kind::GOTO_TABLE,
            Self::WriteMetadata { .. } => kind::WRITE_METADATA,
            Self::WriteActions(_) => kind::WRITE_ACTIONS,
            Self::ApplyActions(_) => kind::APPLY_ACTIONS,
            Self::ClearActions => kind::CLEAR_ACTIONS,
            Self::Meter(_) => kind::METER,
            Self::Experimenter { .. } => kind::EXPERIMENTER,
        }
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Self, ErrorKind> {
        let number = reader.u16()?;
        let length: usize = reader.u16()?.into();
        if length < 8 || !length.is_multiple_of(8) {
            return Err(BadInstruction::BadLen.into());
        }
        let mut body = reader.part(length - 4, BadInstruction::BadLen)?;
        let actions = |mut body: Reader<'_>| {
            body.skip(4)?;
            action::decode_list(Reader::new(body.take_rest(), BadAction::BadLen))
        };
        let instruction = match number {
            kind::GOTO_TABLE => Self::GotoTable(read_table(&mut body)?),
            kind::WRITE_METADATA => {
                body.skip(4)?;
                Self::WriteMetadata {
                    metadata: body.u64()?,
                    mask: body.u64()?,
                }
            }
            kind::WRITE_ACTIONS => return actions(body).map(Self::WriteActions),
            kind::APPLY_ACTIONS => return actions(body).map(Self::ApplyActions),
            // A list of actions, which has none.
            kind::CLEAR_ACTIONS => {
                body.skip(4)?;
                Self::ClearActions
            }
            kind::METER => Self::Meter(body.u32()?),
            kind::EXPERIMENTER => Self::Experimenter {
                experimenter: body.u32()?,
                data: body.take_rest().to_vec(),
            },
            _ => return Err(BadInstruction::UnknownInst.into()),
        };
        body.end()?;
        Ok(instruction)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u16(self.kind());
        out.put_u16(0);
        match self {
            Self::GotoTable(table) => {
                out.put_u8(*table);
                out.put_zeros(3);
            }
            Self::WriteMetadata { metadata, mask } => {
                out.put_zeros(4);
                out.put_u64(*metadata);
                out.put_u64(*mask);
            }
            Self::WriteActions(actions) | Self::ApplyActions(actions) => {
                out.put_zeros(4);
                action::encode_list(actions, out);
            }
            Self::ClearActions => out.put_zeros(4),
            Self::Meter(meter) => out.put_u32(*meter),
            Self::Experimenter { experimenter, data } => {
                out.put_u32(*experimenter);
                out.extend(data);
            }
        }
        out.put_length(start + 2, start);
    }
}

fn read_table(body: &mut Reader<'_>) -> Result<u8, ErrorKind> {
    let table = body.u8()?;
    body.skip(3)?;
    Ok(table)
}

/// Reads all instructions that are left.
pub(crate) fn decode_list(reader: &mut Reader<'_>) -> Result<Vec<Instruction>, ErrorKind> {
    Reader::new(reader.take_rest(), BadInstruction::BadLen).all(Instruction::decode)
}

pub(crate) fn encode_list(instructions: &[Instruction], out: &mut Vec<u8>) {
    instructions
        .iter()
        .for_each(|instruction| instruction.encode(out));
}

//! Checks of matches, instructions and actions before an entry is added (sections 6.4 and 7.4.4).

use std::collections::BTreeSet;

use mptcplab_openflow::error::{BadAction, BadInstruction, BadMatch, ErrorKind, MeterModFailed};
use mptcplab_openflow::matching::VLAN_PRESENT;
use mptcplab_openflow::{Action, Field, Instruction, Match, Oxm, port};

use crate::frame::edit::is_vlan_type;
use crate::switch::Switch;

/// Fields of MPLS and of backbone bridges, which this switch does not have.
const UNSUPPORTED: [Field; 4] = [
    Field::MplsLabel,
    Field::MplsTc,
    Field::MplsBos,
    Field::PbbIsid,
];

/// Whether tables can match a field.
pub(crate) fn is_supported(field: Field) -> bool {
    !UNSUPPORTED.contains(&field)
}

/// Whether actions can set a field: none of those that are no part of a packet.
pub(crate) fn is_settable(field: Field) -> bool {
    let is_context = matches!(
        field,
        Field::InPort | Field::InPhyPort | Field::Metadata | Field::Ipv6Exthdr
    );
    is_supported(field) && !is_context
}

/// Checks the fields of a match.
pub(crate) fn fields(fields: &Match) -> Result<(), ErrorKind> {
    fields.check()?;
    match fields.fields.iter().all(|oxm| is_supported(oxm.field)) {
        true => Ok(()),
        false => Err(BadMatch::BadField.into()),
    }
}

/// Checks the instructions of an entry of a table with this match.
pub(crate) fn instructions(
    instructions: &[Instruction],
    table: u8,
    tables: u8,
    fields: &Match,
    switch: &Switch,
) -> Result<(), ErrorKind> {
    let mut kinds = BTreeSet::new();
    for instruction in instructions {
        // At most one of each type (section 5.9).
        if !kinds.insert(instruction.kind()) {
            return Err(BadInstruction::UnsupInst.into());
        }
        match instruction {
            Instruction::GotoTable(next) if *next <= table || *next >= tables => {
                return Err(BadInstruction::BadTableId.into());
            }
            Instruction::Meter(meter) if !switch.has_meter(*meter) => {
                return Err(MeterModFailed::UnknownMeter.into());
            }
            Instruction::WriteActions(list) | Instruction::ApplyActions(list) => {
                actions(list, Some(fields), false, switch)?;
            }
            Instruction::Experimenter { .. } => return Err(BadInstruction::BadExperimenter.into()),
            Instruction::GotoTable(_)
            | Instruction::WriteMetadata { .. }
            | Instruction::ClearActions
            | Instruction::Meter(_) => {}
        }
    }
    Ok(())
}

/// Checks actions: those of an entry with a match, of a bucket, whose packets may be any, or of a
/// packet-out message, which alone may name the tables as the port.
pub(crate) fn actions(
    actions: &[Action],
    fields: Option<&Match>,
    is_packet_out: bool,
    switch: &Switch,
) -> Result<(), ErrorKind> {
    let mut pushed = false;
    for action in actions {
        match action {
            Action::Output { port, .. } => output(*port, is_packet_out, switch)?,
            Action::Group(group) if !switch.has_group(*group) => {
                return Err(BadAction::BadOutGroup.into());
            }
            Action::SetQueue(queue) if !switch.has_queue(*queue) => {
                return Err(BadAction::BadQueue.into());
            }
            Action::PushVlan(ether_type) if !is_vlan_type(*ether_type) => {
                return Err(BadAction::BadArgument.into());
            }
            Action::PushVlan(_) => pushed = true,
            Action::SetField(oxm) => set_field(oxm, fields, pushed)?,
            Action::Experimenter { .. } => return Err(BadAction::BadExperimenter.into()),
            Action::CopyTtlOut
            | Action::CopyTtlIn
            | Action::SetMplsTtl(_)
            | Action::DecMplsTtl
            | Action::PushMpls(_)
            | Action::PopMpls(_)
            | Action::PushPbb(_)
            | Action::PopPbb => return Err(BadAction::BadType.into()),
            Action::Group(_)
            | Action::SetQueue(_)
            | Action::PopVlan
            | Action::SetNwTtl(_)
            | Action::DecNwTtl => {}
        }
    }
    Ok(())
}

fn output(to: u32, is_packet_out: bool, switch: &Switch) -> Result<(), ErrorKind> {
    use port::number::{ALL, CONTROLLER, FLOOD, IN_PORT, TABLE};
    let is_right = match to {
        IN_PORT | ALL | FLOOD | CONTROLLER => true,
        TABLE => is_packet_out,
        _ => switch.has_port(to),
    };
    match is_right {
        true => Ok(()),
        false => Err(BadAction::BadOutPort.into()),
    }
}

fn set_field(oxm: &Oxm, fields: Option<&Match>, pushed: bool) -> Result<(), ErrorKind> {
    if !is_settable(oxm.field) {
        return Err(BadAction::BadSetType.into());
    }
    let is_vlan = matches!(oxm.field, Field::VlanVid | Field::VlanPcp);
    let is_no_tag = oxm.field == Field::VlanVid && oxm.value & u128::from(VLAN_PRESENT) == 0;
    if oxm.mask.is_some() || oxm.value & !oxm.field.all_ones() != 0 || is_no_tag {
        return Err(BadAction::BadSetArgument.into());
    }
    // A tag that was pushed before is one whatever the match says.
    let is_allowed = fields.is_none_or(|fields| fields.allows(oxm.field) || is_vlan && pushed);
    match is_allowed {
        true => Ok(()),
        false => Err(BadAction::MatchInconsistent.into()),
    }
}

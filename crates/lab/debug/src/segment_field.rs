//! The fields of a segment that are numbers, by name.

use mptcplab_wire::Segment;
use mptcplab_wire::option::{
    AddAddress, AddressIds, Capable, DataNumber, Dss, Join, MptcpOption, Reset,
};

/// A field of a segment that is a number; a flag of an option is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Sequence,
    Acknowledgement,
    Window,
    Urgent,
    MaxSegment,
    WindowShift,
    TimestampValue,
    TimestampEcho,
    CapableVersion,
    CapableChecksum,
    CapableSenderKey,
    CapableReceiverKey,
    CapableDataBytes,
    CapableDataChecksum,
    JoinBackup,
    JoinAddressId,
    JoinToken,
    JoinNonce,
    JoinHmac,
    DssDataFin,
    DssDataAck,
    DssDataSequence,
    DssSubflowSequence,
    DssDataBytes,
    DssChecksum,
    AddAddressEcho,
    AddAddressId,
    AddAddressPort,
    AddAddressHmac,
    RemoveAddressId,
    PriorityBackup,
    FailDataSequence,
    FastCloseKey,
    ResetReason,
    ResetTransient,
}

use Field as F;

/// Every field: its name, and its bits.
pub(crate) const FIELDS: [(&str, Field, u32); 35] = [
    ("seq", F::Sequence, 32),
    ("ack", F::Acknowledgement, 32),
    ("window", F::Window, 16),
    ("urgent", F::Urgent, 16),
    ("mss", F::MaxSegment, 16),
    ("window_shift", F::WindowShift, 8),
    ("ts_value", F::TimestampValue, 32),
    ("ts_echo", F::TimestampEcho, 32),
    ("mp_capable.version", F::CapableVersion, 4),
    ("mp_capable.checksum", F::CapableChecksum, 1),
    ("mp_capable.sender_key", F::CapableSenderKey, 64),
    ("mp_capable.receiver_key", F::CapableReceiverKey, 64),
    ("mp_capable.data_bytes", F::CapableDataBytes, 16),
    ("mp_capable.data_checksum", F::CapableDataChecksum, 16),
    ("mp_join.backup", F::JoinBackup, 1),
    ("mp_join.address_id", F::JoinAddressId, 8),
    ("mp_join.token", F::JoinToken, 32),
    ("mp_join.nonce", F::JoinNonce, 32),
    ("mp_join.hmac", F::JoinHmac, 64),
    ("dss.data_fin", F::DssDataFin, 1),
    ("dss.data_ack", F::DssDataAck, 64),
    ("dss.data_sequence", F::DssDataSequence, 64),
    ("dss.subflow_sequence", F::DssSubflowSequence, 32),
    ("dss.data_bytes", F::DssDataBytes, 16),
    ("dss.checksum", F::DssChecksum, 16),
    ("add_addr.echo", F::AddAddressEcho, 1),
    ("add_addr.address_id", F::AddAddressId, 8),
    ("add_addr.port", F::AddAddressPort, 16),
    ("add_addr.hmac", F::AddAddressHmac, 64),
    ("remove_addr.address_id", F::RemoveAddressId, 8),
    ("mp_prio.backup", F::PriorityBackup, 1),
    ("mp_fail.data_sequence", F::FailDataSequence, 64),
    ("mp_fastclose.receiver_key", F::FastCloseKey, 64),
    ("mp_tcprst.reason", F::ResetReason, 8),
    ("mp_tcprst.transient", F::ResetTransient, 1),
];

impl Field {
    /// Changes the value of the field; false where the segment has no such field. More bits than
    /// the field has are cut off.
    pub(crate) fn change(self, segment: &mut Segment, to: impl Fn(u64) -> u64) -> bool {
        let options = &mut segment.options;
        match self {
            Self::Sequence => u32_to(Some(&mut segment.sequence), to),
            Self::Acknowledgement => u32_to(Some(&mut segment.acknowledgement), to),
            Self::Window => u16_to(Some(&mut segment.window), to),
            Self::Urgent => u16_to(Some(&mut segment.urgent), to),
            Self::MaxSegment => u16_to(options.max_segment_bytes.as_mut(), to),
            Self::WindowShift => u8_to(options.window_shift.as_mut(), to),
            Self::TimestampValue => {
                u32_to(options.timestamps.as_mut().map(|one| &mut one.value), to)
            }
            Self::TimestampEcho => u32_to(options.timestamps.as_mut().map(|one| &mut one.echo), to),
            _ => {
                let mut options = options.mptcp.iter_mut();
                options.any(|option| self.change_in(option, &to))
            }
        }
    }

    /// The same of an option of MPTCP.
    fn change_in(self, option: &mut MptcpOption, to: impl Fn(u64) -> u64) -> bool {
        match option {
            MptcpOption::Capable(capable) => self.change_capable(capable, to),
            MptcpOption::Join(join) => self.change_join(join, to),
            MptcpOption::Dss(dss) => self.change_dss(dss, to),
            MptcpOption::AddAddress(add) => self.change_address(add, to),
            MptcpOption::RemoveAddress(ids) if self == Self::RemoveAddressId => {
                let mut list = ids.as_slice().to_vec();
                let is_changed = u8_to(list.first_mut(), to);
                *ids = AddressIds::new(&list).unwrap_or(*ids);
                is_changed
            }
            MptcpOption::Priority { backup, .. } if self == Self::PriorityBackup => {
                bool_to(Some(backup), to)
            }
            MptcpOption::Fail { data_sequence } if self == Self::FailDataSequence => {
                u64_to(Some(data_sequence), to)
            }
            MptcpOption::FastClose { receiver_key } if self == Self::FastCloseKey => {
                u64_to(Some(receiver_key), to)
            }
            MptcpOption::Reset(reset) => self.change_reset(reset, to),
            _ => false,
        }
    }

    fn change_capable(self, capable: &mut Capable, to: impl Fn(u64) -> u64) -> bool {
        match self {
            Self::CapableVersion => u8_to(Some(&mut capable.version), |old| to(old) & 0xf),
            Self::CapableChecksum => bool_to(Some(&mut capable.checksum), to),
            Self::CapableSenderKey => u64_to(capable.sender_key.as_mut(), to),
            Self::CapableReceiverKey => u64_to(capable.receiver_key.as_mut(), to),
            Self::CapableDataBytes => u16_to(capable.data_bytes.as_mut(), to),
            Self::CapableDataChecksum => u16_to(capable.data_checksum.as_mut(), to),
            _ => false,
        }
    }

    fn change_join(self, join: &mut Join, to: impl Fn(u64) -> u64) -> bool {
        match (self, join) {
            (Self::JoinBackup, Join::Syn { backup, .. } | Join::SynAck { backup, .. }) => {
                bool_to(Some(backup), to)
            }
            (
                Self::JoinAddressId,
                Join::Syn { address_id, .. } | Join::SynAck { address_id, .. },
            ) => u8_to(Some(address_id), to),
            (Self::JoinToken, Join::Syn { token, .. }) => u32_to(Some(token), to),
            (Self::JoinNonce, Join::Syn { nonce, .. } | Join::SynAck { nonce, .. }) => {
                u32_to(Some(nonce), to)
            }
            (Self::JoinHmac, Join::SynAck { hmac, .. }) => u64_to(Some(hmac), to),
            (Self::JoinHmac, Join::Ack { hmac }) => {
                let Some(first) = hmac.first_chunk_mut() else {
                    return false;
                };
                *first = to(u64::from_be_bytes(*first)).to_be_bytes();
                true
            }
            _ => false,
        }
    }

    fn change_dss(self, dss: &mut Dss, to: impl Fn(u64) -> u64) -> bool {
        let mapping = dss.mapping.as_mut();
        match self {
            Self::DssDataFin => bool_to(Some(&mut dss.data_fin), to),
            Self::DssDataAck => number_to(dss.acknowledgement.as_mut(), to),
            Self::DssDataBytes => u16_to(mapping.map(|one| &mut one.bytes), to),
            Self::DssChecksum => u16_to(mapping.and_then(|one| one.checksum.as_mut()), to),
            Self::DssDataSequence => number_to(mapping.map(|one| &mut one.data_sequence), to),
            Self::DssSubflowSequence => u32_to(mapping.map(|one| &mut one.subflow_sequence), to),
            _ => false,
        }
    }

    fn change_address(self, add: &mut AddAddress, to: impl Fn(u64) -> u64) -> bool {
        match self {
            Self::AddAddressEcho => bool_to(Some(&mut add.echo), to),
            Self::AddAddressId => u8_to(Some(&mut add.address_id), to),
            Self::AddAddressPort => u16_to(add.port.as_mut(), to),
            Self::AddAddressHmac => u64_to(add.hmac.as_mut(), to),
            _ => false,
        }
    }

    fn change_reset(self, reset: &mut Reset, to: impl Fn(u64) -> u64) -> bool {
        match self {
            Self::ResetReason => u8_to(Some(&mut reset.reason), to),
            Self::ResetTransient => bool_to(Some(&mut reset.transient), to),
            _ => false,
        }
    }
}

fn u64_to(slot: Option<&mut u64>, to: impl Fn(u64) -> u64) -> bool {
    slot.is_some_and(|slot| {
        *slot = to(*slot);
        true
    })
}

fn u32_to(slot: Option<&mut u32>, to: impl Fn(u64) -> u64) -> bool {
    slot.is_some_and(|slot| {
        *slot = to((*slot).into()) as u32;
        true
    })
}

fn u16_to(slot: Option<&mut u16>, to: impl Fn(u64) -> u64) -> bool {
    slot.is_some_and(|slot| {
        *slot = to((*slot).into()) as u16;
        true
    })
}

fn u8_to(slot: Option<&mut u8>, to: impl Fn(u64) -> u64) -> bool {
    slot.is_some_and(|slot| {
        *slot = to((*slot).into()) as u8;
        true
    })
}

fn bool_to(slot: Option<&mut bool>, to: impl Fn(u64) -> u64) -> bool {
    slot.is_some_and(|slot| {
        *slot = to((*slot).into()) & 1 == 1;
        true
    })
}

fn number_to(slot: Option<&mut DataNumber>, to: impl Fn(u64) -> u64) -> bool {
    slot.is_some_and(|slot| {
        *slot = match *slot {
            DataNumber::Long(number) => DataNumber::Long(to(number)),
            DataNumber::Short(number) => DataNumber::Short(to(number.into()) as u32),
        };
        true
    })
}

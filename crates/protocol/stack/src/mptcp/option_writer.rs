//! The options of MPTCP in segments that leave.

use mptcplab_wire::Options;
use mptcplab_wire::keys::Key;
use mptcplab_wire::option::{Capable, DataNumber, Dss, Mapping, MptcpOption, data_pseudo_header};

use super::fallback::Fallback;
use super::join::JoinHandshake;
use super::signals::Signals;
use super::subflow::{JoinEnd, Stage};
use crate::tcp::{Carrier, DataMapping, Extension, SharedWindow};

/// State of the connection and of the subflow that the options of a segment tell.
pub(super) struct OptionWriter<'a> {
    pub(super) local_key: Key,
    pub(super) remote_key: Option<Key>,
    pub(super) spoken: Spoken,
    /// Checksums are used, or asked for while the handshake lasts.
    pub(super) checksum: bool,
    pub(super) deny_join_initial_address: bool,
    /// Data sequence numbers and acknowledgements have 4 bytes.
    pub(super) short_numbers: bool,
    /// DATA_ACK and window, where the peer's key is known.
    pub(super) acknowledgement: u64,
    /// The DATA_ACK has 8 bytes in what is no longer than so much payload, else 4; where there is
    /// none, 4 in all.
    pub(super) long_ack_bytes: Option<u32>,
    pub(super) window: SharedWindow,
    /// Number of DATA_FIN, where it is to be signalled.
    pub(super) fin: Option<u64>,

    pub(super) first: bool,
    pub(super) initiated_here: bool,
    pub(super) stage: Stage,
    pub(super) local: JoinEnd,
    pub(super) signals: &'a mut Signals,
    pub(super) syns: &'a mut u32,
    /// SYNs that carry MP_CAPABLE.
    pub(super) capable_syns: u32,
    /// State of the fallback, for what is left to say of it.
    pub(super) fallback: &'a mut Fallback,
    /// Handshake of MP_JOIN, of a further subflow.
    pub(super) join: &'a mut JoinHandshake,
    /// The window was advertised.
    pub(super) advertised: bool,
    /// A RST left.
    pub(super) reset_left: bool,
}

/// Protocol of a subflow's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoken {
    /// MPTCP, and the peer has not shown that it got the keys.
    Unconfirmed,
    /// MPTCP.
    Multipath,
    /// TCP, but for what waits to be said of the fallback.
    Tcp,
}

impl Extension for OptionWriter<'_> {
    fn options(&mut self, carrier: Carrier, room_bytes: usize, options: &mut Options) {
        match carrier {
            Carrier::Reset => {
                self.reset_left = true;
                options.mptcp.extend(self.signals.reset);
                return;
            }
            Carrier::Syn => *self.syns += 1,
            _ => {}
        }
        if self.spoken == Spoken::Tcp {
            self.plain_options(carrier, room_bytes, options);
        } else if self.first {
            self.first_options(carrier, room_bytes, options);
        } else {
            self.join_options(carrier, room_bytes, options);
        }
    }

    fn shared_window(&self) -> Option<SharedWindow> {
        let known = self.spoken != Spoken::Tcp && self.remote_key.is_some();
        known.then_some(self.window)
    }
}

impl OptionWriter<'_> {
    /// Adds what is left to say after a fallback.
    fn plain_options(&mut self, carrier: Carrier, room_bytes: usize, options: &mut Options) {
        match carrier {
            Carrier::Ack => self.signals.write(None, room_bytes, options),
            Carrier::Data { .. } => {
                let infinite = self.fallback.take_infinite_mapping();
                options.mptcp.extend(infinite.map(MptcpOption::Dss));
            }
            _ => {}
        }
    }

    /// The subflow of MP_CAPABLE (RFC 8684, section 3.1).
    fn first_options(&mut self, carrier: Carrier, room_bytes: usize, options: &mut Options) {
        let capable = Capable {
            version: 1,
            checksum: self.checksum,
            extension: false,
            no_initial_address: self.deny_join_initial_address,
            hmac: true,
            sender_key: None,
            receiver_key: None,
            data_bytes: None,
            data_checksum: None,
        };
        let keys = Capable {
            sender_key: Some(self.local_key.0),
            receiver_key: self.remote_key.map(|key| key.0),
            ..capable
        };
        // The keys go out again with the first data, and with acknowledgements until the peer has
        // shown that it got them.
        let unconfirmed = self.initiated_here && self.spoken == Spoken::Unconfirmed;
        let option = match carrier {
            Carrier::Syn if *self.syns <= self.capable_syns => capable,
            Carrier::Syn => return,
            Carrier::SynAck => Capable {
                receiver_key: None,
                ..keys
            },
            Carrier::HandshakeAck => keys,
            Carrier::Ack if unconfirmed && self.fin.is_none() => keys,
            Carrier::Data {
                offset: 1,
                bytes,
                mapping: Some(mapping),
            } if unconfirmed => Capable {
                data_bytes: Some(bytes as u16),
                data_checksum: mapping.checksum,
                ..keys
            },
            _ => return self.data_options(carrier, room_bytes, options),
        };
        options.mptcp.push(MptcpOption::Capable(option));
    }

    /// Acknowledgements and data (RFC 8684, section 3.3).
    pub(super) fn data_options(
        &mut self,
        carrier: Carrier,
        room_bytes: usize,
        options: &mut Options,
    ) {
        if self.remote_key.is_none() {
            return;
        }
        self.advertised = true;
        let mut dss = Dss {
            data_fin: false,
            acknowledgement: Some(self.acknowledgement(carrier)),
            mapping: None,
        };
        if let Carrier::Data {
            offset,
            bytes,
            mapping: Some(mapping),
        } = carrier
        {
            dss.data_fin = mapping.data_fin;
            dss.mapping = Some(self.data_mapping(offset, bytes, &mapping));
            options.mptcp.push(MptcpOption::Dss(dss));
            return;
        }
        if let Some(fin) = self.fin {
            dss.data_fin = true;
            dss.mapping = Some(self.fin_mapping(fin));
        }
        self.signals.write(Some(dss), room_bytes, options);
    }

    fn acknowledgement(&self, carrier: Carrier) -> DataNumber {
        let payload = match carrier {
            Carrier::Data { bytes, .. } => bytes,
            _ => 0,
        };
        match self.long_ack_bytes {
            Some(longest) if payload <= longest as usize => self.number(self.acknowledgement),
            _ => DataNumber::Short(self.acknowledgement as u32),
        }
    }

    fn number(&self, number: u64) -> DataNumber {
        if self.short_numbers {
            DataNumber::Short(number as u32)
        } else {
            DataNumber::Long(number)
        }
    }

    fn data_mapping(&self, offset: u64, bytes: usize, mapping: &DataMapping) -> Mapping {
        Mapping {
            data_sequence: self.number(mapping.data_sequence),
            subflow_sequence: offset as u32,
            bytes: bytes as u16 + u16::from(mapping.data_fin),
            checksum: mapping.checksum,
        }
    }

    /// DATA_FIN without data: a mapping of one byte at subflow sequence number 0 (section 3.3.3).
    fn fin_mapping(&self, data_sequence: u64) -> Mapping {
        let mut mapping = Mapping {
            data_sequence: self.number(data_sequence),
            subflow_sequence: 0,
            bytes: 1,
            checksum: None,
        };
        if self.checksum {
            let sum = data_pseudo_header(data_sequence, &mapping);
            mapping.checksum = Some(sum.finish());
        }
        mapping
    }
}

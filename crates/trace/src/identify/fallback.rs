//! Fallback to TCP (RFC 8684, section 3.7): when, and why as far as a capture shows.
//!
//! A capture at one place sees what a middlebox did before that place, never what it did after it.
//! A SYN/ACK without MP_CAPABLE may come from a server that does not know MPTCP, or have lost the
//! option on its way; a client's third ACK without it says that the client did not get what the
//! capture did. The reasons therefore say what was seen. Only where one packet was captured on two
//! interfaces, with the option and without, is it certain that a middlebox removed it.

use super::flow::Bits;
use super::identity_events::IdentityEvent;
use super::registry::{Registry, Seen};
use crate::{Event, Side};

/// Reason why a connection went on as TCP, by the packets that were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// The SYN lost MP_CAPABLE between two of the interfaces of the capture.
    SynStripped,
    /// The SYN/ACK lost it so.
    SynAckStripped,
    /// The client sent its SYN again without MP_CAPABLE, and the SYN/ACK had none.
    SynRepeatedWithoutMptcp,
    /// The SYN had MP_CAPABLE, the SYN/ACK not.
    SynAckWithoutMptcp,
    /// SYN and SYN/ACK had MP_CAPABLE, the third ACK not.
    ThirdAckWithoutMptcp,
    /// The first data of an end came without mapping.
    NoDss,
    /// An infinite mapping.
    InfiniteMapping,
    /// MP_FAIL without RST.
    MpFail,
}

impl Fallback {
    /// Returns the word in the table of connections.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SynStripped => "syn_stripped",
            Self::SynAckStripped => "syn_ack_stripped",
            Self::SynRepeatedWithoutMptcp => "syn_repeated_without_mptcp",
            Self::SynAckWithoutMptcp => "syn_ack_without_mptcp",
            Self::ThirdAckWithoutMptcp => "third_ack_without_mptcp",
            Self::NoDss => "no_dss",
            Self::InfiniteMapping => "infinite_mapping",
            Self::MpFail => "mp_fail",
        }
    }

    /// Returns a sentence that names possible causes.
    fn words(self) -> &'static str {
        match self {
            Self::SynStripped => "MP_CAPABLE was taken out of the SYN between two interfaces",
            Self::SynAckStripped => {
                "MP_CAPABLE was taken out of the SYN/ACK between two interfaces"
            }
            Self::SynRepeatedWithoutMptcp => {
                "the SYN was sent again without MP_CAPABLE, and the SYN/ACK has none"
            }
            Self::SynAckWithoutMptcp => {
                "no MP_CAPABLE in the SYN/ACK: the server does not use MPTCP, or an option was \
                 lost on the way"
            }
            Self::ThirdAckWithoutMptcp => {
                "no MP_CAPABLE in the third ACK: the client gave up MPTCP, or an option was lost \
                 on the way"
            }
            Self::NoDss => {
                "the first data has no mapping: its sender gave up MPTCP, or the option was lost \
                 on the way"
            }
            Self::InfiniteMapping => "one mapping is for all that follows, as in TCP",
            Self::MpFail => "a checksum was wrong, and the subflow is not reset",
        }
    }
}

impl Registry {
    /// Notes that the connection goes on as TCP. The first reason stays.
    pub(super) fn fall_back(&mut self, seen: Seen, reason: Fallback, events: &mut Vec<Event>) {
        let flow = &mut self.flows[seen.index as usize];
        let both = Bits::first_data(Side::Client) | Bits::first_data(Side::Server);
        flow.bits.set(both, false);
        let connection = &mut self.connections[flow.connection as usize];
        if connection.fallback.is_some() {
            return;
        }
        connection.fallback = Some((reason, seen.segment.at));
        self.identity_events
            .push_back((seen.connection, IdentityEvent::FellBack));
        let text = format!("{}: {}", reason.as_str(), reason.words());
        self.report(seen, "fallback", text, events);
    }

    /// Withdraws a fallback, as mappings come although the handshake seemed to have failed: an ACK
    /// without option was not the third, or its option was not captured.
    pub(super) fn take_fallback_back(&mut self, seen: Seen, events: &mut Vec<Event>) {
        let connection = &mut self.connections[seen.connection as usize];
        if let Some((Fallback::ThirdAckWithoutMptcp, _)) = connection.fallback {
            connection.fallback = None;
            self.identity_events
                .push_back((seen.connection, IdentityEvent::FallbackWithdrawn));
            let text = "withdrawn: data is mapped all the same".to_owned();
            self.report(seen, "fallback", text, events);
        }
    }
}

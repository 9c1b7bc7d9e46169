//! Explicit congestion notification (RFC 3168).

use mptcplab_wire::{Ecn, Flags, Segment};

use super::config::EcnPolicy;

/// State of ECN on a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EcnState {
    policy: EcnPolicy,
    /// Both ends agreed.
    enabled: bool,
    /// Receiver: a packet with CE came, and no CWR since (section 6.1.3).
    echoing: bool,
    /// Sender: the window was reduced, whatever the reason; the next new data tells
    /// (section 6.1.2).
    reduced: bool,
}

impl EcnState {
    pub(crate) fn new(policy: EcnPolicy) -> Self {
        Self {
            policy,
            enabled: false,
            echoing: false,
            reduced: false,
        }
    }

    /// Whether both ends agreed.
    #[inline]
    pub(crate) fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Notes that the window was reduced.
    pub(crate) fn on_reduction(&mut self) {
        self.reduced = true;
    }

    /// Notes that a SYN or SYN/ACK was not answered: the next goes without ECN, which old firewalls
    /// may dislike (section 6.1.1.1).
    pub(crate) fn on_handshake_timeout(&mut self) {
        self.policy = EcnPolicy::Off;
        self.enabled = false;
    }

    /// Flags of a SYN (section 6.1.1).
    pub(crate) fn syn_flags(&self, flags: &mut Flags) {
        let asks = self.policy == EcnPolicy::Request;
        flags.ece = asks;
        flags.cwr = asks;
    }

    /// Flags of a SYN/ACK.
    pub(crate) fn syn_ack_flags(&self, flags: &mut Flags) {
        flags.ece = self.enabled;
    }

    /// Takes the flags of a SYN.
    pub(crate) fn on_syn(&mut self, flags: Flags) {
        self.enabled = self.policy != EcnPolicy::Off && flags.ece && flags.cwr;
    }

    /// Takes the flags of the SYN/ACK.
    pub(crate) fn on_syn_ack(&mut self, flags: Flags) {
        self.enabled = self.policy == EcnPolicy::Request && flags.ece && !flags.cwr;
    }

    /// A segment came. True where it must be acknowledged at once, as the echo changes.
    pub(crate) fn on_segment(&mut self, segment: &Segment) -> bool {
        if !self.enabled {
            return false;
        }
        let before = self.echoing;
        if segment.flags.cwr && !segment.payload.is_empty() {
            self.echoing = false;
        }
        if segment.ecn == Ecn::CongestionExperienced {
            self.echoing = true;
        }
        before != self.echoing
    }

    /// Marks a segment that goes out, and gives the field of its IP header. Only new data may say
    /// that it is ECN-capable (section 6.1.5) and that the window was reduced.
    pub(crate) fn mark(&mut self, flags: &mut Flags, new_data: bool) -> Ecn {
        if !self.enabled {
            return Ecn::NotCapable;
        }
        flags.ece = self.echoing;
        if !new_data {
            return Ecn::NotCapable;
        }
        flags.cwr = core::mem::take(&mut self.reduced);
        Ecn::Capable0
    }
}

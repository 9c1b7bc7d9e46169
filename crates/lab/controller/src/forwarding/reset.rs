//! The refusal of a subflow: a reset in the name of the host that it goes to.
//!
//! A host that does not want a subflow answers the MP_JOIN with a RST that has MP_TCPRST (RFC 8684,
//! section 3.2), and so does the controller. It ends the subflow at once; of a SYN that were only
//! dropped, Linux would send another one after 1, 3 and 7 s, each to be refused again. The RST
//! acknowledges the SYN, without which none would be accepted (RFC 9293, section 3.10.7.3).

use std::net::SocketAddr;

use bytes::Bytes;
use mptcplab_wire::ethernet::{Header, ether_type};
use mptcplab_wire::option::{MptcpOption, Reset};
use mptcplab_wire::{Ecn, Flags, Options, Segment};

use crate::controller::Controller;
use crate::frame::{Frame, Ip};
use crate::messages;
use crate::place::PortRef;

/// "Administratively prohibited" (RFC 8684, section 3.6).
const PROHIBITED: u8 = 3;
const HOP_LIMIT: u8 = 64;

impl Controller {
    /// Answers a SYN that came by a port with a reset.
    pub(super) fn reset(&mut self, at: PortRef, frame: &Frame, ip: &Ip) {
        let Some(answer) = answer(frame, ip) else {
            return;
        };
        self.send(at.datapath, messages::packet_out(&[at.port], answer));
    }
}

/// The frame that refuses a SYN.
fn answer(frame: &Frame, ip: &Ip) -> Option<Vec<u8>> {
    let tcp = ip.tcp.as_ref()?;
    let mut options = Options::default();
    options.mptcp.push(MptcpOption::Reset(Reset {
        transient: false,
        reason: PROHIBITED,
    }));
    let segment = Segment {
        source: SocketAddr::new(ip.destination, tcp.destination),
        destination: SocketAddr::new(ip.source, tcp.source),
        sequence: 0,
        acknowledgement: tcp.sequence.wrapping_add(1),
        flags: Flags {
            rst: true,
            ack: true,
            ..Flags::default()
        },
        window: 0,
        urgent: 0,
        options,
        ecn: Ecn::NotCapable,
        payload: Bytes::new(),
    };
    let header = Header {
        destination: frame.source,
        source: frame.destination,
        ether_type: match ip.source.is_ipv4() {
            true => ether_type::IPV4,
            false => ether_type::IPV6,
        },
    };
    let mut answer = header.frame();
    segment.into_packet(HOP_LIMIT).write_to(&mut answer);
    Some(answer)
}

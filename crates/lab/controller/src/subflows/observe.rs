//! The handshake of a connection, from copies of its packets: the SYN/ACK has the key of the other
//! end, the third ACK those of both (RFC 8684, section 3.1).

use mptcplab_wire::keys::Key;
use mptcplab_wire::option::{Capable, MptcpOption};

use super::{Class, Flow, Kind};
use crate::controller::Controller;
use crate::forwarding::waiting::Cause;
use crate::frame::{Content, Frame, TcpHeader};
use crate::place::PortRef;

/// Numbers of the ends.
const OPENER: usize = 0;
const OTHER: usize = 1;

impl Controller {
    /// Takes the copy of a packet that a rule of a subflow has sent on.
    pub(crate) fn observe(&mut self, number: u64, at: PortRef, data: &[u8]) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let (connection, own, ends) = (subflow.connection, subflow.flow, subflow.ends);
        let Some(Frame {
            content: Content::Ip(ip),
            ..
        }) = Frame::read(data)
        else {
            return;
        };
        let flow = Flow::of(&ip);
        let Some(tcp) = &ip.tcp else {
            return;
        };
        if tcp.flags.rst && (flow, at) == (own.reversed(), ends[OTHER]) {
            self.end_subflow(number);
        } else if (flow, at) == (own, ends[OPENER]) {
            if let Some(capable) = capable(tcp).filter(|_| !tcp.flags.syn) {
                self.take_key(connection, OPENER, capable.sender_key);
                self.take_key(connection, OTHER, capable.receiver_key);
            }
            self.count_copy(number, OPENER);
        } else if (flow, at) == (own.reversed(), ends[OTHER]) {
            self.take_answer(connection, tcp);
            self.count_copy(number, OTHER);
        }
    }

    /// Ends the copies of a direction when the key of its end is known, or when there were enough.
    fn count_copy(&mut self, number: u64, end: usize) {
        let Some(subflow) = self.table.subflow(number) else {
            return;
        };
        let is_wanted = self.table.waits_for_key(subflow.connection, end);
        match self.table.subflow_mut(number) {
            Some(subflow) if is_wanted && subflow.copies[end] > 1 => subflow.copies[end] -= 1,
            _ => self.stop_copies(number, end),
        }
    }

    fn take_answer(&mut self, connection: u64, tcp: &TcpHeader) {
        self.table.set_class(connection, Class::Open);
        if !tcp.flags.syn {
            return;
        }
        match capable(tcp) {
            Some(capable) => self.take_key(connection, OTHER, capable.sender_key),
            // The other end speaks TCP alone.
            None => {
                if let Some(known) = self.table.connection_mut(connection) {
                    known.kind = Kind::Tcp;
                }
            }
        }
    }

    /// Takes the key of an end; subflows that have come before are placed.
    fn take_key(&mut self, connection: u64, end: usize, key: Option<u64>) {
        let Some(token) = key.map(|key| Key(key).token()) else {
            return;
        };
        if self.table.set_token(connection, end, token) {
            self.release(Cause::Token(token));
        }
    }
}

fn capable(tcp: &TcpHeader) -> Option<&Capable> {
    tcp.options.mptcp.iter().find_map(|option| match option {
        MptcpOption::Capable(capable) => Some(capable),
        _ => None,
    })
}

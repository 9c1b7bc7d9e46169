//! Resets of subflows and their options (RFC 8684, section 3.6).

use mptcplab_wire::Segment;
use mptcplab_wire::option::MptcpOption;

use super::connection::Connection;
use super::signals::{self, reason};
use crate::Nanos;
use crate::tcp::State;

impl Connection {
    /// Closes a subflow at once, with a reason for the peer.
    pub(super) fn reset_subflow(&mut self, now: Nanos, index: usize, reason: u8) {
        let subflow = &mut self.subflows[index];
        if subflow.tcp.state() == State::Closed {
            return;
        }
        subflow.signals.reset = Some(signals::reset(reason, false));
        if reason == reason::MIDDLEBOX {
            subflow.end.give_path_up();
        }
        subflow.pending = true;
        let progress = subflow.tcp.abort();
        if let Some(why) = progress.closed {
            self.on_subflow_closed(now, index, why);
        }
    }

    /// Counts what a RST that leaves says.
    pub(super) fn count_reset(&mut self, segment: &Segment) {
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Reset(_) => self.counters.reset_sent += 1,
                MptcpOption::FastClose { .. } => self.counters.fast_close_sent += 1,
                _ => {}
            }
        }
    }

    /// Reads the options of a RST that was taken. After one for good no subflow is opened on the
    /// same path (RFC 8684, section 3.6); MP_FAIL tells of a path that spoils data.
    pub(super) fn read_reset_options(&mut self, index: usize, segment: &Segment) {
        for option in &segment.options.mptcp {
            match option {
                MptcpOption::Reset(reset) => {
                    self.counters.reset_received += 1;
                    if !reset.transient {
                        self.subflows[index].end.give_path_up();
                    }
                }
                MptcpOption::Fail { .. } => {
                    self.counters.fail_received += 1;
                    self.subflows[index].end.give_path_up();
                }
                MptcpOption::FastClose { receiver_key } => {
                    self.on_fast_close(*receiver_key);
                }
                _ => {}
            }
        }
    }
}

//! How subflows begin and end, and with them the connection.

use super::closing::{self, DataEnd};
use super::now::{Now, name};
use super::{Connection, Flow};
use crate::{Ends, Event, Segment, Side, Verdict};

impl Connection {
    /// SYN, FIN and RST.
    #[cold]
    pub(super) fn take_control(&mut self, now: &Now, segment: &Segment, events: &mut Vec<Event>) {
        let flags = segment.flags;
        let flows = &mut self.flows[now.subflow as usize];
        let was_over = is_over(flows);
        let (own, other) = flows.pair_mut(now.from);
        if flags.syn {
            own.origin.set_initial(segment.sequence);
            if flags.ack {
                let initial = segment.acknowledgement.wrapping_sub(1);
                other.origin.set_initial(initial);
            }
            if let Some(bytes) = segment.options.max_segment_bytes {
                self.directions[now.from.other()].window.set_segment(bytes);
            }
        }
        if flags.fin && !own.fin {
            own.fin = true;
            events.push(now.event("fin", format!("FIN of the {}", name(now.from))));
            self.directions[now.from].is_complete |= self.plain;
        }
        own.reset |= flags.rst;
        if !was_over && is_over(flows) {
            let text = if flags.rst {
                format!("the subflow is closed by RST of the {}", name(now.from))
            } else {
                "the subflow is closed: both ends sent FIN".to_owned()
            };
            events.push(now.event("subflow_closed", text));
            self.is_closing = true;
        }
    }

    /// MP_FASTCLOSE.
    #[cold]
    pub(super) fn take_fast_close(&mut self, now: &Now) {
        self.fast_closed.get_or_insert(now.at);
        self.is_closing = true;
    }

    /// Something was seen that may have ended the connection: tells once that it is over, if it is.
    #[cold]
    pub(super) fn tell_closed(&mut self, now: &Now, events: &mut Vec<Event>) {
        self.is_closing = false;
        if self.is_closed {
            return;
        }
        let acknowledged = Ends::of(|side| self.directions[side].fin.acknowledged_at.is_some());
        let end = self.end_given(acknowledged.client && acknowledged.server);
        let how = match end {
            DataEnd::Open => return,
            DataEnd::DataFin => "the DATA_FIN of both ends is acknowledged",
            DataEnd::Fin => "both ends sent FIN",
            DataEnd::FastClose => "MP_FASTCLOSE",
            DataEnd::Reset => "no subflow is left, one at least was reset",
        };
        self.is_closed = true;
        let text = format!("the connection is closed: {how}");
        let mut event = now.event("connection_closed", text);
        event.subflow = None;
        events.push(event);
    }

    /// How the connection ended.
    pub(super) fn end(&self) -> DataEnd {
        let fins = Ends::of(|side: Side| self.directions[side].fin.at.is_some());
        self.end_given(fins.client && fins.server)
    }

    fn end_given(&self, data_fins: bool) -> DataEnd {
        closing::end(&self.flows, data_fins, self.fast_closed.is_some())
    }

    /// A segment was sent again because time ran out.
    #[cold]
    pub(super) fn tell_timeout(&mut self, now: &Now, verdict: &Verdict, events: &mut Vec<Event>) {
        let flow = &mut self.flows[now.subflow as usize][now.from];
        if !std::mem::replace(&mut flow.timed_out, true) {
            let sequence = verdict.sequence;
            let text = format!("retransmission timeout: sequence {sequence} is sent again");
            events.push(now.event("timeout", text));
        }
    }
}

/// Whether a subflow is over: both ends sent FIN, or one RST.
fn is_over(flows: &Ends<Flow>) -> bool {
    flows.client.fin && flows.server.fin || flows.client.reset || flows.server.reset
}

//! End of a connection.

use super::current_segment::{CurrentSegment, name};
use super::flow::Flow;
use super::ranges::Number;
use crate::{Ends, Event, Nanos};

/// End of a connection, as far as it was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DataEnd {
    /// The DATA_FIN of both ends is acknowledged (RFC 8684, section 3.3.3).
    DataFin,
    /// Both ends sent their FIN on every subflow, and not both DATA_FINs are acknowledged: plain
    /// TCP, after fallback, or without the last DATA_ACK.
    Fin,
    /// An end sent MP_FASTCLOSE (RFC 8684, section 3.5).
    FastClose,
    /// Every subflow is over, one at least by RST, and nothing of the above.
    Reset,
    /// It did not.
    #[default]
    Open,
}

/// The DATA_FIN of one end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DataFin {
    /// Its data sequence number.
    number: Option<Number>,
    /// When it was seen first.
    pub(super) at: Option<Nanos>,
    /// When the first DATA_ACK that covers it was seen.
    pub(super) acknowledged_at: Option<Nanos>,
}

impl DataFin {
    /// Takes a DATA_FIN. Adds an event for the first.
    #[cold]
    pub(super) fn send(
        &mut self,
        current: &CurrentSegment,
        number: Number,
        events: &mut Vec<Event>,
    ) {
        if self.at.is_some() {
            return;
        }
        self.at = Some(current.at);
        self.number = Some(number);
        let text = format!(
            "DATA_FIN of the {} at data sequence {number}",
            name(current.from)
        );
        events.push(current.event("data_fin", text));
    }

    /// Takes a DATA_ACK of `number`. Adds an event if it is the first to cover the DATA_FIN.
    #[inline]
    pub(super) fn acknowledge(
        &mut self,
        current: &CurrentSegment,
        number: Number,
        events: &mut Vec<Event>,
    ) {
        if self.acknowledged_at.is_none() && self.number.is_some_and(|fin| fin < number) {
            self.report_acknowledged(current, number, events);
        }
    }

    #[cold]
    fn report_acknowledged(
        &mut self,
        current: &CurrentSegment,
        number: Number,
        events: &mut Vec<Event>,
    ) {
        self.acknowledged_at = Some(current.at);
        let of = name(current.from.other());
        let text = format!("DATA_FIN of the {of} acknowledged by DATA_ACK {number}");
        events.push(current.event("data_fin_acknowledged", text));
    }
}

/// Returns how a connection of these subflows ended.
pub(super) fn end(flows: &[Ends<Flow>], data_fins: bool, fast_closed: bool) -> DataEnd {
    if fast_closed {
        return DataEnd::FastClose;
    }
    if data_fins {
        return DataEnd::DataFin;
    }
    // A subflow without answer, or unused after its handshake, keeps nothing open.
    let mut used = flows
        .iter()
        .filter(|flows| flows.client.used || flows.server.used)
        .peekable();
    let is_reset = |flows: &Ends<Flow>| flows.client.reset || flows.server.reset;
    let is_closed = |flows: &Ends<Flow>| flows.client.fin && flows.server.fin;
    if used.peek().is_none() {
        let reset = flows.iter().any(is_reset);
        return if reset { DataEnd::Reset } else { DataEnd::Open };
    }
    let mut end = DataEnd::Fin;
    for flows in used {
        if !is_closed(flows) {
            if !is_reset(flows) {
                return DataEnd::Open;
            }
            end = DataEnd::Reset;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a subflow whose ends sent "f" FIN, "r" RST; "u" anything.
    fn subflow(client: &str, server: &str) -> Ends<Flow> {
        let sent = Ends { client, server };
        Ends::of(|side| {
            let sent = sent[side];
            let mut flow = Flow::default();
            flow.used = !sent.is_empty();
            flow.fin = sent.contains('f');
            flow.reset = sent.contains('r');
            flow
        })
    }

    #[test]
    fn a_connection_ends_by_the_first_of_these_that_applies() {
        let open = [subflow("u", "u")];
        assert_eq!(end(&open, false, false), DataEnd::Open);
        assert_eq!(end(&open, true, false), DataEnd::DataFin);
        assert_eq!(end(&open, true, true), DataEnd::FastClose);
        assert_eq!(end(&[subflow("f", "f")], false, false), DataEnd::Fin);
        assert_eq!(end(&[subflow("f", "fr")], false, false), DataEnd::Fin);
        assert_eq!(end(&[subflow("f", "r")], false, false), DataEnd::Reset);
        assert_eq!(end(&[subflow("f", "u")], false, false), DataEnd::Open);
        let two = [subflow("f", "f"), subflow("u", "u")];
        assert_eq!(end(&two, false, false), DataEnd::Open);
        let two = [subflow("f", "f"), subflow("u", "r")];
        assert_eq!(end(&two, false, false), DataEnd::Reset);
        let unanswered = [subflow("f", "f"), subflow("", "")];
        assert_eq!(end(&unanswered, false, false), DataEnd::Fin);
        assert_eq!(end(&[], false, false), DataEnd::Open);
    }
}

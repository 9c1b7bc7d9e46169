//! Rows of single packets.

use std::fmt::Write as _;
use std::sync::LazyLock;

use mptcplab_wire::option::MptcpOption;
use mptcplab_wire::{Ecn, Flags, SackBlock};

use crate::identify::format_options;
use crate::tables::{EventRow, PacketRow};
use crate::{DataVerdict, Event, Kind, Place, Segment, Verdict};

/// Letters of the control bits, as they stand from CWR to FIN.
const LETTERS: [char; 8] = ['C', 'E', 'U', 'A', 'P', 'R', 'S', 'F'];

/// Letters of each set of control bits.
static SPELLED: LazyLock<[String; 256]> = LazyLock::new(|| {
    std::array::from_fn(|set| {
        let is_set = |place: &usize| set & (0x80 >> place) != 0;
        (0..8).filter(is_set).map(|place| LETTERS[place]).collect()
    })
});

/// Returns the letters of the control bits that are set.
fn letters(flags: Flags) -> &'static str {
    let bits = [
        flags.cwr, flags.ece, flags.urg, flags.ack, flags.psh, flags.rst, flags.syn, flags.fin,
    ];
    let set = bits.iter().fold(0, |set, bit| set << 1 | usize::from(*bit));
    &SPELLED[set]
}

/// Formats the blocks as `left-right`, by commas.
fn blocks(sack: &[SackBlock]) -> Option<String> {
    let mut text = String::new();
    for SackBlock { left, right } in sack {
        let comma = if text.is_empty() { "" } else { "," };
        write!(text, "{comma}{left}-{right}").expect("a string takes everything");
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the options of MPTCP, field by field.
fn formatted(options: &[MptcpOption]) -> Option<String> {
    let mut text = String::new();
    format_options(options, &mut text);
    (!text.is_empty()).then_some(text)
}

impl From<Event> for EventRow {
    fn from(event: Event) -> Self {
        Self {
            connection: event.connection,
            subflow: event.subflow,
            from: event.from,
            t_ns: event.at,
            frame: event.frame,
            kind: event.kind,
            text: event.text,
        }
    }
}

/// Returns the row of a packet that another interface saw before.
pub(super) fn duplicate(segment: &Segment, place: Place) -> PacketRow {
    let verdict = Verdict::of(Kind::Duplicate);
    PacketRow {
        sequence: None,
        ..packet(segment, place, &verdict, &DataVerdict::default())
    }
}

/// Returns the row of a packet.
pub(super) fn packet(
    segment: &Segment,
    place: Place,
    verdict: &Verdict,
    data: &DataVerdict,
) -> PacketRow {
    let options = &segment.options;
    PacketRow {
        connection: place.connection,
        subflow: place.subflow,
        from: place.from,
        t_ns: segment.at,
        frame: segment.frame,
        interface: segment.interface,
        flags: letters(segment.flags),
        kind: verdict.kind,
        sequence: Some(verdict.sequence),
        raw_sequence: segment.sequence,
        acknowledgement: verdict.acknowledgement,
        raw_acknowledgement: segment.flags.ack.then_some(segment.acknowledgement),
        payload_bytes: segment.payload_bytes,
        packet_bytes: segment.packet_bytes,
        new_bytes: verdict.new_bytes,
        newly_acknowledged_bytes: verdict.newly_acknowledged_bytes,
        in_flight_bytes: verdict.in_flight_bytes,
        pipe_bytes: verdict.pipe_bytes,
        window_bytes: verdict.window_bytes,
        raw_window: segment.window,
        rtt_ns: verdict.rtt.map(|(_, rtt)| rtt),
        rtt_method: verdict.rtt.map(|(method, _)| method),
        layers: (!segment.layers.is_empty()).then(|| segment.layers.to_string()),
        identification: segment.identification,
        ecn: match segment.ecn {
            Ecn::NotCapable => 0,
            Ecn::Capable1 => 1,
            Ecn::Capable0 => 2,
            Ecn::CongestionExperienced => 3,
        },
        ts_value: options.timestamps.map(|timestamps| timestamps.value),
        ts_echo: options.timestamps.map(|timestamps| timestamps.echo),
        mss: options.max_segment_bytes,
        window_shift: options.window_shift,
        sack: blocks(&options.sack),
        mptcp: formatted(&options.mptcp),
        data_sequence: data.data_sequence,
        data_acknowledgement: data.data_acknowledgement,
        new_data_bytes: data.new_data_bytes,
        reinjected_bytes: data.reinjected_bytes,
        reinjected_from: data.reinjected_from,
        data_rtt_ns: data.data_rtt,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_bits_are_spelled_in_the_order_of_the_header() {
        let mut flags = Flags::default();
        assert_eq!(letters(flags), "");
        (flags.syn, flags.ack) = (true, true);
        assert_eq!(letters(flags), "AS");
        (flags.cwr, flags.fin) = (true, true);
        assert_eq!(letters(flags), "CASF");
    }

    #[test]
    fn blocks_stand_one_behind_the_other() {
        let block = |left, right| SackBlock { left, right };
        assert_eq!(blocks(&[]), None);
        assert_eq!(blocks(&[block(1, 2), block(5, 9)]).unwrap(), "1-2,5-9");
    }
}

use mptcplab_openflow::flow::{FlowCommand, FlowFlags, FlowMod};
use mptcplab_openflow::{Match, Oxm, group, port};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn entry(fields: &Match, priority: u16) -> Entry {
    let flow_mod = FlowMod {
        cookie: 0,
        cookie_mask: 0,
        table: 0,
        command: FlowCommand::Add,
        idle_timeout: 0,
        hard_timeout: 0,
        priority,
        buffer: None,
        out_port: port::number::ANY,
        out_group: group::number::ANY,
        flags: FlowFlags::empty(),
        fields: fields.clone(),
        instructions: vec![],
    };
    Entry::new(&flow_mod, Pattern::new(fields), 0)
}

/// Fields of few values, so that many entries match.
fn fields() -> impl Strategy<Value = Match> {
    let names = [
        Field::InPort,
        Field::EthDst,
        Field::Metadata,
        Field::Ipv4Src,
    ];
    let oxm = (select(names.to_vec()), 0..4_u8, 0..4_u8, any::<bool>()).prop_map(
        |(field, value, mask, masked)| match masked && field.is_maskable() {
            true => Oxm::masked(field, value & mask, mask),
            false => Oxm::exact(field, value),
        },
    );
    vec(oxm, 0..4).prop_map(|fields| {
        let mut fields = Match::new(fields);
        fields.fields.sort_by_key(|oxm| oxm.field);
        fields.fields.dedup_by_key(|oxm| oxm.field);
        fields
    })
}

fn key((port, address, metadata, source): (u8, u8, u8, Option<u8>)) -> Key {
    let mut key = Key::new(&[], None, port.into());
    key.set(Field::Metadata, metadata);
    key.set(Field::EthDst, address);
    if let Some(source) = source {
        key.set(Field::Ipv4Src, source);
    }
    key
}

proptest! {
    /// The look-up finds an entry of the priority that a search through all entries finds.
    #[test]
    fn a_look_up_is_a_search_through_all(
        changes in vec((fields(), 0..5_u16, any::<bool>()), 0..40),
        packets in vec((0..4_u8, 0..4_u8, 0..4_u8, prop::option::of(0..4_u8)), 1..20),
    ) {
        let mut table = Table::default();
        for (fields, priority, adds) in changes {
            let pattern = Pattern::new(&fields);
            if let Some(slot) = table.find(&pattern, priority) {
                table.remove(slot);
            }
            if adds {
                table.insert(entry(&fields, priority));
            }
        }
        for packet in packets {
            let key = key(packet);
            let matching = table.entries().filter(|(_, entry)| entry.pattern.matches(&key));
            let expected = matching.map(|(_, entry)| entry.priority).max();
            let found = table.look_up(&key).and_then(|slot| table.entry(slot));
            prop_assert!(found.is_none_or(|entry| entry.pattern.matches(&key)));
            prop_assert_eq!(found.map(|entry| entry.priority), expected);
        }
        prop_assert_eq!(table.entries().count(), table.len());
    }

    /// A match covers another one if no packet matches that and not this.
    #[test]
    fn covering_and_overlapping_are_as_packets_show(
        one in fields(),
        other in fields(),
        packets in vec((0..4_u8, 0..4_u8, 0..4_u8, prop::option::of(0..4_u8)), 1..50),
    ) {
        let (one, other) = (Pattern::new(&one), Pattern::new(&other));
        for key in packets.into_iter().map(key) {
            let (by_one, by_other) = (one.matches(&key), other.matches(&key));
            prop_assert!(!(one.covers(&other) && by_other && !by_one));
            prop_assert!(!(by_one && by_other) || one.overlaps(&other));
        }
        prop_assert!(one.covers(&one) && one.overlaps(&one));
    }
}

//! Flow entries over their lives, as a reader outside of OpenFlow sees them.

use mptcplab_openflow::flow::FlowRemovedReason;
use mptcplab_openflow::{Instruction, Match};

use crate::switch::Switch;
use crate::table::entry::Entry;

/// A flow entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowEntry<'a> {
    /// The table.
    pub table: u8,
    /// The priority.
    pub priority: u16,
    /// The match, as the controller wrote it.
    pub fields: &'a Match,
    /// The instructions, as the controller last wrote them.
    pub instructions: &'a [Instruction],
    /// The time at which it was added.
    pub added_ns: u64,
    /// The time and the reason of its removal; `None`: it is there.
    pub removed: Option<(u64, EntryEnd)>,
    /// Packets that it matched itself: not those of an entry whose place it took, which its counters
    /// in OpenFlow go on from, but those from before its counters were reset.
    pub packets: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// The reason why a flow entry is there no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryEnd {
    /// As controllers are told.
    Removed(FlowRemovedReason),
    /// Another one of the same match and priority took its place.
    Replaced,
}

/// Entries that were removed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Removed {
    kept: Vec<(u8, Entry, u64, EntryEnd)>,
    left_out: u64,
}

impl Removed {
    /// Keeps an entry, or counts it where `most` are kept already.
    pub(crate) fn keep(&mut self, most: usize, removed: (u8, Entry, u64, EntryEnd)) {
        match self.kept.len() < most {
            true => self.kept.push(removed),
            false => self.left_out += 1,
        }
    }
}

impl Switch {
    /// The entries that were removed, as far as they are remembered, in the order of their removal;
    /// then those that there are, by tables.
    pub fn flow_entries(&self) -> impl Iterator<Item = FlowEntry<'_>> {
        let removed = self.removed.kept.iter();
        let removed =
            removed.map(|(table, entry, at_ns, end)| view(*table, entry, Some((*at_ns, *end))));
        let tables = (0..).zip(&self.tables);
        removed.chain(tables.flat_map(|(number, table)| {
            let entries = table.entries();
            entries.map(move |(_, entry)| view(number, entry, None))
        }))
    }

    /// Removed entries that are not remembered, as there were too many.
    pub fn removed_left_out(&self) -> u64 {
        self.removed.left_out
    }

    /// Remembers an entry that was removed.
    pub(crate) fn keep_removed(&mut self, now_ns: u64, table: u8, entry: Entry, end: EntryEnd) {
        let removed = (table, entry, now_ns, end);
        self.removed.keep(self.config.max_removed, removed);
    }

    /// Forgets the entries that were removed.
    pub fn forget_removed(&mut self) {
        self.removed = Removed::default();
    }
}

fn view(table: u8, entry: &Entry, removed: Option<(u64, EntryEnd)>) -> FlowEntry<'_> {
    let (packets, bytes) = entry.matched();
    FlowEntry {
        table,
        priority: entry.priority,
        fields: &entry.fields,
        instructions: &entry.instructions.written,
        added_ns: entry.added_ns,
        removed,
        packets,
        bytes,
    }
}

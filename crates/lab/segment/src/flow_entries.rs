//! The flow entries of a run's switches, as rows of a recording.

use mptcplab_openflow::flow::FlowRemovedReason;
use mptcplab_record::FlowEntry;
use mptcplab_switch::{EntryEnd, FlowEntry as Entry, Switch};

use crate::entry_text::{instructions, matching};
use crate::switching::Switching;

/// Entries of a switch that a recording has, of those that were removed and of those that are there.
pub(crate) const MOST_OF_SWITCH: usize = 2_000;

/// The flow entries of all switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowEntries {
    /// By switches; of each those that were removed first.
    pub entries: Vec<FlowEntry>,
    /// Entries that are not there, as there were too many.
    pub left_out: u64,
}

impl Switching {
    /// The flow entries that the switches here had in the run: at most 2,000 removed ones of
    /// each switch, and as many that are there.
    pub fn flow_entries(&self) -> FlowEntries {
        let mut found = FlowEntries::default();
        let names = self.control.iter().flat_map(|one| &one.names.nodes);
        for (node, name) in names {
            let Some(switch) = &self.switches[*node] else {
                continue;
            };
            found.left_out += switch.removed_left_out();
            let mut there = 0;
            for entry in switch.flow_entries() {
                there += usize::from(entry.removed.is_none());
                match there > MOST_OF_SWITCH {
                    true => found.left_out += 1,
                    false => found.entries.push(self.flow_entry(name, &entry)),
                }
            }
        }
        found
    }

    fn flow_entry(&self, switch: &str, entry: &Entry<'_>) -> FlowEntry {
        let end = entry.removed;
        FlowEntry {
            switch: switch.to_owned(),
            table_id: entry.table,
            priority: entry.priority,
            matching: matching(entry.fields),
            instructions: instructions(entry.instructions),
            start_ns: entry.added_ns.checked_sub(self.epoch_ns),
            end_ns: end.map(|(at_ns, _)| at_ns.saturating_sub(self.epoch_ns)),
            ended: end.map(|(_, end)| words(end)),
            packets: entry.packets,
            bytes: entry.bytes,
        }
    }

    /// Forgets the entries that were removed before the run.
    pub(crate) fn begin_entries(&mut self) {
        let switches = self.switches.iter_mut().flatten();
        switches.for_each(Switch::forget_removed);
    }
}

fn words(end: EntryEnd) -> &'static str {
    match end {
        EntryEnd::Removed(FlowRemovedReason::IdleTimeout) => "idle_timeout",
        EntryEnd::Removed(FlowRemovedReason::HardTimeout) => "hard_timeout",
        EntryEnd::Removed(FlowRemovedReason::Delete) => "delete",
        EntryEnd::Removed(FlowRemovedReason::GroupDelete) => "group_delete",
        EntryEnd::Replaced => "replaced",
    }
}

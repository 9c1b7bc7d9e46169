//! Timeouts of flow entries, and the messages that tell of their removal (section 5.5).

use mptcplab_openflow::flow::{FlowFlags, FlowRemoved, FlowRemovedReason};
use mptcplab_openflow::{Body, Elapsed};

use crate::controller::Event;
use crate::entries::EntryEnd;
use crate::output::Output;
use crate::switch::Switch;
use crate::table::entry::Entry;

impl Switch {
    /// Sets the time at which the timeouts of an entry are looked at.
    pub(crate) fn set_timer(&mut self, table: u8, slot: usize) {
        let Some(entry) = self.tables[usize::from(table)].entry_mut(slot) else {
            return;
        };
        if let Some(at_ns) = entry.timer_ns.take() {
            self.timers.remove(&(at_ns, table, slot));
        }
        if let Some(at_ns) = entry.expires_ns() {
            entry.timer_ns = Some(at_ns);
            self.timers.insert((at_ns, table, slot));
        }
    }

    /// Removes an entry whose timeout is over, or looks at it again later.
    pub(crate) fn expire(&mut self, at_ns: u64, table: u8, slot: usize, out: &mut Vec<Output>) {
        let Some(entry) = self.tables[usize::from(table)].entry_mut(slot) else {
            return;
        };
        entry.timer_ns = None;
        let reason = if entry.hard_ns().is_some_and(|hard_ns| hard_ns <= at_ns) {
            FlowRemovedReason::HardTimeout
        } else if entry.idle_ns().is_some_and(|idle_ns| idle_ns <= at_ns) {
            FlowRemovedReason::IdleTimeout
        } else {
            return self.set_timer(table, slot);
        };
        self.remove_entry(at_ns, table, slot, reason, out);
    }

    /// Removes an entry, and tells the controllers if it says so.
    pub(crate) fn remove_entry(
        &mut self,
        now_ns: u64,
        table: u8,
        slot: usize,
        reason: FlowRemovedReason,
        out: &mut Vec<Output>,
    ) {
        let Some(entry) = self.tables[usize::from(table)].remove(slot) else {
            return;
        };
        if let Some(at_ns) = entry.timer_ns {
            self.timers.remove(&(at_ns, table, slot));
        }
        if entry.flags.contains(FlowFlags::SEND_FLOW_REM) {
            let removed = removed(now_ns, table, reason, &entry);
            self.tell(Event::FlowRemoved(reason), &Body::FlowRemoved(removed), out);
        }
        self.keep_removed(now_ns, table, entry, EntryEnd::Removed(reason));
    }
}

fn removed(now_ns: u64, table: u8, reason: FlowRemovedReason, entry: &Entry) -> FlowRemoved {
    FlowRemoved {
        cookie: entry.cookie,
        priority: entry.priority,
        reason,
        table,
        duration: Elapsed::from_nanos(now_ns - entry.added_ns),
        idle_timeout: entry.idle_timeout_s,
        hard_timeout: entry.hard_timeout_s,
        packet_count: entry.packets,
        byte_count: entry.bytes,
        fields: entry.fields.clone(),
    }
}

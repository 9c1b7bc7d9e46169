//! Modifications of flow tables (section 6.4).

use std::sync::Arc;

use mptcplab_openflow::ErrorKind;
use mptcplab_openflow::error::FlowModFailed;
use mptcplab_openflow::flow::{ALL_TABLES, FlowCommand, FlowFlags, FlowMod, FlowRemovedReason};

use crate::check;
use crate::entries::EntryEnd;
use crate::output::Output;
use crate::switch::Switch;
use crate::table::Table;
use crate::table::entry::{Entry, Steps};
use crate::table::pattern::Pattern;

/// Flags that the specification has.
const KNOWN_FLAGS: FlowFlags = FlowFlags::SEND_FLOW_REM
    .union(FlowFlags::CHECK_OVERLAP)
    .union(FlowFlags::RESET_COUNTS)
    .union(FlowFlags::NO_PKT_COUNTS)
    .union(FlowFlags::NO_BYT_COUNTS);

impl Switch {
    /// Carries out a modification, and then lets the packet of its buffer, if any, pass the tables.
    pub(crate) fn flow_mod(
        &mut self,
        now_ns: u64,
        request: &FlowMod,
        out: &mut Vec<Output>,
    ) -> Result<(), ErrorKind> {
        let is_deletion = matches!(
            request.command,
            FlowCommand::Delete | FlowCommand::DeleteStrict
        );
        let is_all = request.table == ALL_TABLES && is_deletion;
        if request.table >= self.config.tables && !is_all {
            return Err(FlowModFailed::BadTableId.into());
        }
        check::fields(&request.fields)?;
        if !is_deletion {
            self.check_entry(request)?;
        }
        let pattern = Pattern::new(&request.fields);
        match request.command {
            FlowCommand::Add => self.add(now_ns, request, pattern)?,
            FlowCommand::Modify | FlowCommand::ModifyStrict => self.modify(request, &pattern),
            FlowCommand::Delete | FlowCommand::DeleteStrict => {
                self.delete(now_ns, request, &pattern, out);
            }
        }
        match request.buffer.filter(|_| !is_deletion) {
            Some(buffer) => self.release(now_ns, buffer, None, None, out),
            None => Ok(()),
        }
    }

    fn check_entry(&self, request: &FlowMod) -> Result<(), ErrorKind> {
        if !KNOWN_FLAGS.contains(request.flags) {
            return Err(FlowModFailed::BadFlags.into());
        }
        check::instructions(
            &request.instructions,
            request.table,
            self.config.tables,
            &request.fields,
            self,
        )
    }

    fn add(&mut self, now_ns: u64, request: &FlowMod, pattern: Pattern) -> Result<(), ErrorKind> {
        let table = &mut self.tables[usize::from(request.table)];
        let same = table.find(&pattern, request.priority);
        if request.flags.contains(FlowFlags::CHECK_OVERLAP) {
            let mut entries = table.entries();
            // An entry of the same match and priority overlaps, too.
            if entries.any(|(_, entry)| {
                entry.priority == request.priority && entry.pattern.overlaps(&pattern)
            }) {
                return Err(FlowModFailed::Overlap.into());
            }
        }
        if same.is_none() && table.len() >= self.config.max_entries as usize {
            return Err(FlowModFailed::TableFull.into());
        }
        let mut entry = Entry::new(request, pattern, now_ns);
        if let Some(replaced) = same.and_then(|slot| table.remove(slot).map(|one| (slot, one))) {
            let (slot, old) = replaced;
            if let Some(at_ns) = old.timer_ns {
                self.timers.remove(&(at_ns, request.table, slot));
            }
            if !request.flags.contains(FlowFlags::RESET_COUNTS) {
                entry.inherit_counts(&old);
            }
            self.keep_removed(now_ns, request.table, old, EntryEnd::Replaced);
        }
        let slot = self.tables[usize::from(request.table)].insert(entry);
        self.set_timer(request.table, slot);
        Ok(())
    }

    fn modify(&mut self, request: &FlowMod, pattern: &Pattern) {
        let table = &mut self.tables[usize::from(request.table)];
        let steps = Arc::new(Steps::new(&request.instructions));
        for slot in concerned(table, request, pattern) {
            if let Some(entry) = table.entry_mut(slot) {
                entry.instructions = Arc::clone(&steps);
                if request.flags.contains(FlowFlags::RESET_COUNTS) {
                    entry.reset_counts();
                }
            }
        }
    }

    fn delete(&mut self, now_ns: u64, request: &FlowMod, pattern: &Pattern, out: &mut Vec<Output>) {
        let tables = match request.table {
            ALL_TABLES => 0..self.config.tables,
            table => table..table + 1,
        };
        for number in tables {
            let table = &self.tables[usize::from(number)];
            let with_output = |slot: &usize| {
                table
                    .entry(*slot)
                    .is_some_and(|entry| entry.has_output(request.out_port, request.out_group))
            };
            let mut slots = concerned(table, request, pattern);
            slots.retain(with_output);
            for slot in slots {
                self.remove_entry(now_ns, number, slot, FlowRemovedReason::Delete, out);
            }
        }
    }

    /// Removes the entries that something deleted leaves without what they need.
    pub(crate) fn remove_users(
        &mut self,
        now_ns: u64,
        reason: FlowRemovedReason,
        uses: impl Fn(&Entry) -> bool,
        out: &mut Vec<Output>,
    ) {
        for number in 0..self.config.tables {
            let entries = self.tables[usize::from(number)].entries();
            let users: Vec<usize> = entries
                .filter(|(_, entry)| uses(entry))
                .map(|(slot, _)| slot)
                .collect();
            for slot in users {
                self.remove_entry(now_ns, number, slot, reason, out);
            }
        }
    }
}

/// The entries that a command concerns, by match, priority and cookie.
fn concerned(table: &Table, request: &FlowMod, pattern: &Pattern) -> Vec<usize> {
    let is_strict = matches!(
        request.command,
        FlowCommand::ModifyStrict | FlowCommand::DeleteStrict
    );
    let has_cookie = |slot: &usize| {
        table
            .entry(*slot)
            .is_some_and(|entry| (entry.cookie ^ request.cookie) & request.cookie_mask == 0)
    };
    let found: Vec<usize> = match is_strict {
        true => table.find(pattern, request.priority).into_iter().collect(),
        false => table
            .entries()
            .filter(|(_, entry)| pattern.covers(&entry.pattern))
            .map(|(slot, _)| slot)
            .collect(),
    };
    found.into_iter().filter(has_cookie).collect()
}

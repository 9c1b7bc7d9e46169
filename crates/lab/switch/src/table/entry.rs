//! A flow entry.

use std::sync::Arc;

use mptcplab_openflow::flow::{FlowFlags, FlowMod};
use mptcplab_openflow::group;
use mptcplab_openflow::port;
use mptcplab_openflow::{Action, Instruction, Match};

use super::pattern::Pattern;

const NANOS: u64 = 1_000_000_000;

/// A flow entry with its counters.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) pattern: Pattern,
    /// The match as the controller wrote it.
    pub(crate) fields: Match,
    pub(crate) priority: u16,
    pub(crate) cookie: u64,
    pub(crate) idle_timeout_s: u16,
    pub(crate) hard_timeout_s: u16,
    pub(crate) flags: FlowFlags,
    pub(crate) instructions: Arc<Steps>,
    pub(crate) added_ns: u64,
    pub(crate) used_ns: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Packets and bytes of these that an entry matched whose place it took.
    pub(crate) inherited: (u64, u64),
    /// Packets and bytes that it matched before its counters were reset.
    pub(crate) before_reset: (u64, u64),
    /// The time at which its timeouts are looked at.
    pub(crate) timer_ns: Option<u64>,
}

impl Entry {
    pub(crate) fn new(flow_mod: &FlowMod, pattern: Pattern, now_ns: u64) -> Self {
        Self {
            pattern,
            fields: flow_mod.fields.clone(),
            priority: flow_mod.priority,
            cookie: flow_mod.cookie,
            idle_timeout_s: flow_mod.idle_timeout,
            hard_timeout_s: flow_mod.hard_timeout,
            flags: flow_mod.flags,
            instructions: Arc::new(Steps::new(&flow_mod.instructions)),
            added_ns: now_ns,
            used_ns: now_ns,
            packets: 0,
            bytes: 0,
            inherited: (0, 0),
            before_reset: (0, 0),
            timer_ns: None,
        }
    }

    /// Whether it is the one for table misses: of priority 0, for every packet.
    pub(crate) fn is_table_miss(&self) -> bool {
        self.priority == 0 && self.pattern.is_empty()
    }

    /// The time of the hard timeout.
    pub(crate) fn hard_ns(&self) -> Option<u64> {
        after(self.added_ns, self.hard_timeout_s)
    }

    /// The time of the idle timeout, if no packet comes.
    pub(crate) fn idle_ns(&self) -> Option<u64> {
        after(self.used_ns, self.idle_timeout_s)
    }

    /// The time at which it is removed, if no packet comes.
    pub(crate) fn expires_ns(&self) -> Option<u64> {
        self.hard_ns().into_iter().chain(self.idle_ns()).min()
    }

    pub(crate) fn count(&mut self, now_ns: u64, bytes: u64) {
        self.used_ns = now_ns;
        if !self.flags.contains(FlowFlags::NO_PKT_COUNTS) {
            self.packets += 1;
        }
        if !self.flags.contains(FlowFlags::NO_BYT_COUNTS) {
            self.bytes += bytes;
        }
    }

    /// Packets and bytes that it matched itself.
    pub(crate) fn matched(&self) -> (u64, u64) {
        let (packets, bytes) = self.before_reset;
        (
            packets + self.packets - self.inherited.0,
            bytes + self.bytes - self.inherited.1,
        )
    }

    pub(crate) fn reset_counts(&mut self) {
        self.before_reset = self.matched();
        (self.packets, self.bytes) = (0, 0);
        self.inherited = (0, 0);
    }

    /// Goes on with the counters of an entry whose place it takes.
    pub(crate) fn inherit_counts(&mut self, old: &Self) {
        (self.packets, self.bytes) = (old.packets, old.bytes);
        self.inherited = (old.packets, old.bytes);
    }

    /// Whether it has an output to this port and this group, or none is asked for.
    pub(crate) fn has_output(&self, out_port: u32, out_group: u32) -> bool {
        let outputs = |wanted: &Action| {
            self.instructions
                .actions()
                .any(|action| match (action, wanted) {
                    (Action::Output { port, .. }, Action::Output { port: other, .. }) => {
                        port == other
                    }
                    (Action::Group(group), Action::Group(other)) => group == other,
                    _ => false,
                })
        };
        let to_port = Action::Output {
            port: out_port,
            max_len: 0,
        };
        (out_port == port::number::ANY || outputs(&to_port))
            && (out_group == group::number::ANY || outputs(&Action::Group(out_group)))
    }
}

/// The time of a timeout that began at `begin_ns`; 0 s: never.
fn after(begin_ns: u64, timeout_s: u16) -> Option<u64> {
    (timeout_s > 0).then(|| begin_ns + u64::from(timeout_s) * NANOS)
}

/// Instructions in the order in which they are carried out (section 5.9).
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) meter: Option<u32>,
    pub(crate) apply: Vec<Action>,
    pub(crate) clear: bool,
    pub(crate) write: Vec<Action>,
    /// Bits of the metadata and their mask.
    pub(crate) metadata: Option<(u64, u64)>,
    pub(crate) goto_table: Option<u8>,
    /// The instructions as the controller wrote them.
    pub(crate) written: Vec<Instruction>,
}

impl Steps {
    pub(crate) fn new(instructions: &[Instruction]) -> Self {
        let mut steps = Self {
            written: instructions.to_vec(),
            ..Self::default()
        };
        for instruction in instructions {
            match instruction {
                Instruction::GotoTable(table) => steps.goto_table = Some(*table),
                Instruction::WriteMetadata { metadata, mask } => {
                    steps.metadata = Some((*metadata, *mask));
                }
                Instruction::WriteActions(actions) => steps.write = actions.clone(),
                Instruction::ApplyActions(actions) => steps.apply = actions.clone(),
                Instruction::ClearActions => steps.clear = true,
                Instruction::Meter(meter) => steps.meter = Some(*meter),
                // Refused when the entry is added.
                Instruction::Experimenter { .. } => {}
            }
        }
        steps
    }

    /// All actions.
    pub(crate) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.apply.iter().chain(&self.write)
    }
}

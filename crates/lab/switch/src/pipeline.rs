//! The way of a packet through the tables (section 5.1), and its actions (section 5.12).

use std::mem;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use mptcplab_openflow::packet::PacketInReason;
use mptcplab_openflow::setup::fragments;
use mptcplab_openflow::{Action, Field, Oxm};

use crate::account::DropReason;
use crate::action_set::ActionSet;
use crate::frame::{Headers, Key, edit};
use crate::meter::{Verdict, remarked};
use crate::output::Output;
use crate::switch::Switch;
use crate::way::{Step, Steps};

/// Groups that may be within each other.
const MAX_GROUP_DEPTH: u32 = 16;

/// Actions that a packet may meet: groups of groups could make it any number.
const MAX_ACTIONS: u32 = 4096;

/// A packet, or a copy of it, as actions change it.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) frame: Bytes,
    headers: Headers,
    in_port: u32,
    pub(crate) metadata: u64,
    pub(crate) tunnel_id: u64,
    pub(crate) queue: Option<u32>,
    key: Key,
    /// Whether the frame has changed since its fields were read.
    is_key_stale: bool,
}

impl Packet {
    /// A frame with an Ethernet header; `None`: it is too short.
    fn new(frame: Bytes, in_port: u32) -> Option<Self> {
        let headers = Headers::parse(&frame)?;
        Some(Self {
            key: Key::new(&frame, Some(&headers), in_port),
            frame,
            headers,
            in_port,
            metadata: 0,
            tunnel_id: 0,
            queue: None,
            is_key_stale: false,
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.frame.len() as u64
    }

    /// The fields of the packet as it is now.
    fn key(&mut self) -> &Key {
        if self.is_key_stale {
            self.key = Key::new(&self.frame, Some(&self.headers), self.in_port);
            self.key.set(Field::Metadata, self.metadata);
            self.key.set(Field::TunnelId, self.tunnel_id);
            self.is_key_stale = false;
        }
        &self.key
    }

    /// Changes bytes of the frame, in place where no copy of it is on its way.
    fn edit<T>(&mut self, change: impl FnOnce(&mut [u8], &Headers) -> T) -> T {
        let mut frame = BytesMut::from(mem::take(&mut self.frame));
        let result = change(&mut frame, &self.headers);
        self.replace(frame.freeze());
        result
    }

    /// Puts another frame in the place of this one.
    fn replace(&mut self, frame: Bytes) {
        self.frame = frame;
        if let Some(headers) = Headers::parse(&self.frame) {
            self.headers = headers;
        }
        self.is_key_stale = true;
    }

    fn set_metadata(&mut self, metadata: u64) {
        self.metadata = metadata;
        self.key.set(Field::Metadata, metadata);
    }

    fn set_field(&mut self, oxm: &Oxm) {
        if oxm.field == Field::TunnelId {
            self.tunnel_id = oxm.value as u64;
            self.key.set(Field::TunnelId, self.tunnel_id);
        } else {
            self.edit(|frame, headers| edit::set_field(frame, headers, oxm));
        }
    }
}

/// Circumstances of a packet's processing, and what came of it so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) now_ns: u64,
    pub(crate) in_port: u32,
    /// The table whose entry is carried out.
    pub(crate) table: u8,
    /// The cookie of that entry.
    pub(crate) cookie: u64,
    /// The reason that a controller is told.
    pub(crate) reason: PacketInReason,
    actions_left: u32,
    /// Whether a copy went anywhere.
    pub(crate) is_forwarded: bool,
    /// The reason why the last copy went nowhere.
    pub(crate) blocked: Option<DropReason>,
    pub(crate) steps: Steps,
}

impl Walk {
    fn new(now_ns: u64, in_port: u32) -> Self {
        Self {
            now_ns,
            in_port,
            table: 0,
            cookie: u64::MAX,
            reason: PacketInReason::Action,
            actions_left: MAX_ACTIONS,
            is_forwarded: false,
            blocked: None,
            steps: Steps::new(),
        }
    }
}

/// The reason why the processing of a packet ends before its time.
type Stop = Result<(), DropReason>;

impl Switch {
    /// Processes a frame that came in by a port.
    pub(crate) fn process_received(
        &mut self,
        now_ns: u64,
        port: u32,
        frame: Bytes,
        out: &mut Vec<Output>,
    ) {
        let received = match self.ports.get_mut(&port) {
            Some(found) => found.receive(frame.len() as u64),
            None => Err(DropReason::UnknownPort),
        };
        match received {
            Ok(()) => self.process(now_ns, port, frame, None, out),
            Err(reason) => self.account.dropped.add(reason),
        }
    }

    /// Processes a frame by actions or, without any, by the tables.
    pub(crate) fn process(
        &mut self,
        now_ns: u64,
        in_port: u32,
        frame: Bytes,
        actions: Option<&[Action]>,
        out: &mut Vec<Output>,
    ) {
        let mut walk = Walk::new(now_ns, in_port);
        let before = out.len();
        let ended = match Packet::new(frame, in_port) {
            None => Err(DropReason::TooShort),
            Some(mut packet) => match actions {
                Some(actions) => self.act_all(&mut walk, &mut packet, actions, 0, out),
                None => self.run_tables(&mut walk, &mut packet, out),
            },
        };
        match out.get(before..) {
            Some([Output::Packet { port, queue, .. }]) if actions.is_none() && ended.is_ok() => {
                self.remember(&walk, *port, *queue);
            }
            _ => self.forget_way(in_port),
        }
        if walk.is_forwarded {
            self.account.forwarded += 1;
        } else {
            let reason = ended.err().or(walk.blocked).unwrap_or(DropReason::NoOutput);
            self.account.dropped.add(reason);
        }
    }

    fn run_tables(&mut self, walk: &mut Walk, packet: &mut Packet, out: &mut Vec<Output>) -> Stop {
        let drops_fragments = self.settings.flags & fragments::MASK == fragments::DROP;
        if drops_fragments && packet.headers.is_fragment {
            return Err(DropReason::Fragment);
        }
        let mut set = ActionSet::default();
        let mut next = Some(0);
        while let Some(table) = next {
            let slot = self.tables[usize::from(table)].look_up(packet.key());
            let entry = slot.and_then(|slot| self.tables[usize::from(table)].entry_mut(slot));
            let entry = entry.ok_or(DropReason::TableMiss)?;
            entry.count(walk.now_ns, packet.bytes());
            if let Some(slot) = slot {
                walk.steps.add(Step::Entry(table, slot));
            }
            walk.table = table;
            walk.cookie = entry.cookie;
            walk.reason = match entry.is_table_miss() {
                true => PacketInReason::NoMatch,
                false => PacketInReason::Action,
            };
            let steps = Arc::clone(&entry.instructions);
            if let Some(meter) = steps.meter {
                walk.steps.differ();
                self.measure(walk, packet, meter)?;
            }
            self.act_all(walk, packet, &steps.apply, 0, out)?;
            if steps.clear {
                set.clear();
            }
            set.write(&steps.write);
            if let Some((metadata, mask)) = steps.metadata {
                packet.set_metadata(packet.metadata & !mask | metadata & mask);
            }
            next = steps.goto_table;
        }
        for action in set.in_order() {
            self.act(walk, packet, action, 0, out)?;
        }
        Ok(())
    }

    fn measure(&mut self, walk: &Walk, packet: &mut Packet, meter: u32) -> Stop {
        let Some(meter) = self.meters.get_mut(&meter) else {
            return Ok(());
        };
        match meter.pass(walk.now_ns, packet.bytes()) {
            Verdict::Pass => Ok(()),
            Verdict::Drop => Err(DropReason::Meter),
            Verdict::Remark(levels) => {
                let dscp = packet.key().value(Field::IpDscp) as u8;
                let class = remarked(dscp, levels) << 2;
                packet.edit(|frame, headers| edit::set_class(frame, headers, 0xfc, class));
                Ok(())
            }
        }
    }

    /// Carries out actions in their order.
    fn act_all(
        &mut self,
        walk: &mut Walk,
        packet: &mut Packet,
        actions: &[Action],
        depth: u32,
        out: &mut Vec<Output>,
    ) -> Stop {
        for action in actions {
            self.act(walk, packet, action, depth, out)?;
        }
        Ok(())
    }

    fn act(
        &mut self,
        walk: &mut Walk,
        packet: &mut Packet,
        action: &Action,
        depth: u32,
        out: &mut Vec<Output>,
    ) -> Stop {
        let left = walk.actions_left.checked_sub(1);
        walk.actions_left = left.ok_or(DropReason::TooManyActions)?;
        if !matches!(
            action,
            Action::Output { .. } | Action::Group(_) | Action::SetQueue(_)
        ) {
            walk.steps.differ();
        }
        match action {
            Action::Output {
                port: mptcplab_openflow::port::number::TABLE,
                ..
            } => return self.run_tables(walk, &mut packet.clone(), out),
            Action::Output { port, max_len } => self.output(walk, packet, *port, *max_len, out),
            Action::Group(group) => return self.forward(walk, packet, *group, depth, out),
            Action::SetQueue(queue) => packet.queue = Some(*queue),
            Action::SetField(oxm) => packet.set_field(oxm),
            Action::SetNwTtl(ttl) => {
                packet.edit(|frame, headers| edit::set_ttl(frame, headers, *ttl));
            }
            Action::DecNwTtl => {
                if !packet.edit(edit::decrement_ttl) {
                    self.tell_invalid_ttl(walk, packet, out);
                    return Err(DropReason::InvalidTtl);
                }
            }
            Action::PushVlan(ether_type) => {
                let frame = edit::push_vlan(&packet.frame, &packet.headers, *ether_type);
                packet.replace(frame.into());
            }
            Action::PopVlan => {
                if let Some(frame) = edit::pop_vlan(&packet.frame, &packet.headers) {
                    packet.replace(frame.into());
                }
            }
            // Refused before they could be in an entry.
            Action::CopyTtlOut
            | Action::CopyTtlIn
            | Action::SetMplsTtl(_)
            | Action::DecMplsTtl
            | Action::PushMpls(_)
            | Action::PopMpls(_)
            | Action::PushPbb(_)
            | Action::PopPbb
            | Action::Experimenter { .. } => {}
        }
        Ok(())
    }

    /// Sends copies of a packet by the buckets of a group; the packet itself stays as it is.
    fn forward(
        &mut self,
        walk: &mut Walk,
        packet: &mut Packet,
        group: u32,
        depth: u32,
        out: &mut Vec<Output>,
    ) -> Stop {
        if depth >= MAX_GROUP_DEPTH {
            return Err(DropReason::TooManyActions);
        }
        let ports = &self.ports;
        let is_port_live = |port| ports.get(&port).is_some_and(|found| found.is_live());
        let chosen = self.groups.choose(group, packet.key(), is_port_live);
        let Some(found) = self.groups.get_mut(group) else {
            walk.blocked = Some(DropReason::NoLiveBucket);
            return Ok(());
        };
        found.packets += 1;
        found.bytes += packet.bytes();
        walk.steps.add(Step::Group(group));
        if chosen.is_empty() {
            walk.blocked = Some(DropReason::NoLiveBucket);
        }
        for index in chosen {
            let Some(bucket) = self
                .groups
                .get_mut(group)
                .and_then(|found| found.buckets.get_mut(index))
            else {
                continue;
            };
            bucket.packets += 1;
            bucket.bytes += packet.bytes();
            walk.steps.add(Step::Bucket(group, index));
            let actions = bucket.actions.clone();
            let mut copy = packet.clone();
            match self.act_all(walk, &mut copy, &actions, depth + 1, out) {
                // A bucket's copy ends alone, but for the limit of the whole packet.
                Err(DropReason::TooManyActions) => return Err(DropReason::TooManyActions),
                Err(reason) => walk.blocked = Some(reason),
                Ok(()) => {}
            }
        }
        Ok(())
    }
}

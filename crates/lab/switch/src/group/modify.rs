//! Changes of groups (section 6.7).

use std::collections::BTreeSet;

use mptcplab_openflow::error::GroupModFailed;
use mptcplab_openflow::group::{Bucket, GroupMod, GroupType, number};
use mptcplab_openflow::{Action, port};

use super::{Group, Groups, watches};

/// Limits of the group table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) groups: u32,
    pub(crate) buckets: u32,
}

/// Groups that a bucket forwards to or watches.
fn used(bucket: &Bucket) -> impl Iterator<Item = u32> {
    let actions = bucket.actions.iter();
    let forwarded = actions.filter_map(|action| match action {
        Action::Group(group) => Some(*group),
        _ => None,
    });
    let watched = Some(bucket.watch_group).filter(|group| *group != number::ANY);
    forwarded.chain(watched)
}

impl Groups {
    /// Adds a group.
    pub(crate) fn add(
        &mut self,
        request: &GroupMod,
        limits: Limits,
        now_ns: u64,
        has_port: impl Fn(u32) -> bool,
    ) -> Result<(), GroupModFailed> {
        if request.group > number::MAX {
            return Err(GroupModFailed::InvalidGroup);
        }
        if self.table.contains_key(&request.group) {
            return Err(GroupModFailed::GroupExists);
        }
        if self.table.len() >= limits.groups as usize {
            return Err(GroupModFailed::OutOfGroups);
        }
        self.check(request, limits, has_port)?;
        self.put(request, now_ns);
        Ok(())
    }

    /// Replaces type and buckets of a group; its account begins anew.
    pub(crate) fn modify(
        &mut self,
        request: &GroupMod,
        limits: Limits,
        now_ns: u64,
        has_port: impl Fn(u32) -> bool,
    ) -> Result<(), GroupModFailed> {
        if !self.table.contains_key(&request.group) {
            return Err(GroupModFailed::UnknownGroup);
        }
        self.check(request, limits, has_port)?;
        self.put(request, now_ns);
        Ok(())
    }

    /// Deletes a group, or all, and returns which ones there were.
    pub(crate) fn delete(&mut self, group: u32) -> Result<Vec<u32>, GroupModFailed> {
        self.live = None;
        if group == number::ALL {
            return Ok(std::mem::take(&mut self.table).into_keys().collect());
        }
        if group > number::MAX {
            return Err(GroupModFailed::InvalidGroup);
        }
        let mut others = self.table.iter().filter(|(own, _)| **own != group);
        if others.any(|(_, other)| {
            other
                .buckets
                .iter()
                .any(|one| used(&one.setup).any(|used| used == group))
        }) {
            return Err(GroupModFailed::ChainedGroup);
        }
        Ok(self
            .table
            .remove(&group)
            .map(|_| group)
            .into_iter()
            .collect())
    }

    /// Buckets that forward to a group.
    pub(crate) fn references(&self, group: u32) -> u32 {
        let buckets = self.table.values().flat_map(|other| &other.buckets);
        buckets
            .filter(|one| one.setup.actions.contains(&Action::Group(group)))
            .count() as u32
    }

    fn put(&mut self, request: &GroupMod, now_ns: u64) {
        let group = Group::new(request.group_type, &request.buckets, now_ns);
        self.table.insert(request.group, group);
        self.live = None;
    }

    fn check(
        &self,
        request: &GroupMod,
        limits: Limits,
        has_port: impl Fn(u32) -> bool,
    ) -> Result<(), GroupModFailed> {
        if request.buckets.len() > limits.buckets as usize {
            return Err(GroupModFailed::OutOfBuckets);
        }
        if request.group_type == GroupType::Indirect && request.buckets.len() != 1 {
            return Err(GroupModFailed::InvalidGroup);
        }
        for bucket in &request.buckets {
            let port = bucket.watch_port;
            let group = bucket.watch_group;
            let is_port_known = port == port::number::ANY || has_port(port);
            let is_group_known = group == number::ANY || self.table.contains_key(&group);
            let must_watch = request.group_type == GroupType::FastFailover;
            if !is_port_known || !is_group_known || must_watch && !watches(bucket) {
                return Err(GroupModFailed::BadWatch);
            }
        }
        if self.reaches(&request.buckets, request.group) {
            return Err(GroupModFailed::Loop);
        }
        Ok(())
    }

    /// Whether buckets lead to a group, over whatever others.
    fn reaches(&self, buckets: &[Bucket], wanted: u32) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<u32> = buckets.iter().flat_map(used).collect();
        while let Some(group) = open.pop() {
            if group == wanted {
                return true;
            }
            if seen.insert(group)
                && let Some(found) = self.table.get(&group)
            {
                open.extend(found.buckets.iter().flat_map(|one| used(&one.setup)));
            }
        }
        false
    }
}

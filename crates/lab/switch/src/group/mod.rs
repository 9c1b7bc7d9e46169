//! Groups (section 5.6).

mod modify;

pub(crate) use modify::Limits;

use std::collections::{BTreeMap, BTreeSet};

use mptcplab_openflow::group::{Bucket, GroupType, number};
use mptcplab_openflow::{Action, Field, port};

use crate::action_set::ordered;
use crate::frame::Key;

/// A bucket with its account.
#[derive(Clone, Debug)]
pub(crate) struct GroupBucket {
    pub(crate) setup: Bucket,
    /// The actions in the order in which they are carried out.
    pub(crate) actions: Vec<Action>,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// A group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) group_type: GroupType,
    pub(crate) buckets: Vec<GroupBucket>,
    pub(crate) since_ns: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

impl Group {
    fn new(group_type: GroupType, buckets: &[Bucket], now_ns: u64) -> Self {
        let bucket = |setup: &Bucket| GroupBucket {
            actions: ordered(&setup.actions),
            setup: setup.clone(),
            packets: 0,
            bytes: 0,
        };
        Self {
            group_type,
            buckets: buckets.iter().map(bucket).collect(),
            since_ns: now_ns,
            packets: 0,
            bytes: 0,
        }
    }
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    table: BTreeMap<u32, Group>,
    /// Groups with a bucket that is live; `None`: not known since something changed.
    live: Option<BTreeSet<u32>>,
}

impl Groups {
    pub(crate) fn get(&self, group: u32) -> Option<&Group> {
        self.table.get(&group)
    }

    pub(crate) fn get_mut(&mut self, group: u32) -> Option<&mut Group> {
        self.table.get_mut(&group)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Group)> {
        self.table.iter().map(|(number, group)| (*number, group))
    }

    /// Says that a port's state has changed.
    pub(crate) fn ports_changed(&mut self) {
        self.live = None;
    }

    /// The buckets that a packet goes to, by their places.
    pub(crate) fn choose(
        &mut self,
        group: u32,
        key: &Key,
        is_port_live: impl Fn(u32) -> bool,
    ) -> Vec<usize> {
        let table = &self.table;
        let Some(found) = table.get(&group) else {
            return Vec::new();
        };
        let live = self.live.get_or_insert_with(|| live(table, &is_port_live));
        let is_live = |bucket: &Bucket| is_live(bucket, live, &is_port_live);
        match found.group_type {
            GroupType::All | GroupType::Indirect => (0..found.buckets.len()).collect(),
            GroupType::FastFailover => {
                let first = found.buckets.iter().position(|one| is_live(&one.setup));
                first.into_iter().collect()
            }
            GroupType::Select => {
                let weight = |one: &GroupBucket| match !watches(&one.setup) || is_live(&one.setup) {
                    true => u64::from(one.setup.weight),
                    false => 0,
                };
                let weights: Vec<u64> = found.buckets.iter().map(weight).collect();
                pick(&weights, hash(key)).into_iter().collect()
            }
        }
    }
}

/// Groups with a bucket that is live, where a bucket is by its port or its group.
fn live(table: &BTreeMap<u32, Group>, is_port_live: impl Fn(u32) -> bool) -> BTreeSet<u32> {
    let mut live = BTreeSet::new();
    loop {
        let before = live.len();
        for (number, group) in table {
            let found = |one: &GroupBucket| is_live(&one.setup, &live, &is_port_live);
            if group.buckets.iter().any(found) {
                live.insert(*number);
            }
        }
        if live.len() == before {
            return live;
        }
    }
}

/// Whether a port or a group decides whether the bucket is live.
fn watches(bucket: &Bucket) -> bool {
    bucket.watch_port != port::number::ANY || bucket.watch_group != number::ANY
}

fn is_live(bucket: &Bucket, live: &BTreeSet<u32>, is_port_live: impl Fn(u32) -> bool) -> bool {
    is_port_live(bucket.watch_port) || live.contains(&bucket.watch_group)
}

/// The place of one of several weights that a hash falls on.
fn pick(weights: &[u64], hash: u64) -> Option<usize> {
    let total: u64 = weights.iter().sum();
    // The upper half of the hash, scaled: no bias that would be seen below 2³² buckets.
    let mut point = ((hash >> 32) * total) >> 32;
    weights.iter().position(|&weight| {
        let is_here = point < weight;
        point = point.saturating_sub(weight);
        is_here
    })
}

/// A hash of a packet's addresses, protocol and ports: the same for all packets of a flow, and the
/// same on every machine.
fn hash(key: &Key) -> u64 {
    const FIELDS: [Field; 17] = [
        Field::EthDst,
        Field::EthSrc,
        Field::EthType,
        Field::VlanVid,
        Field::IpProto,
        Field::Ipv4Src,
        Field::Ipv4Dst,
        Field::ArpSpa,
        Field::ArpTpa,
        Field::Ipv6Src,
        Field::Ipv6Dst,
        Field::TcpSrc,
        Field::TcpDst,
        Field::UdpSrc,
        Field::UdpDst,
        Field::SctpSrc,
        Field::SctpDst,
    ];
    FIELDS.iter().fold(0, |hash, field| {
        let value = key.value(*field);
        mix(mix(hash ^ value as u64) ^ (value >> 64) as u64)
    })
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

//! Statistics for controllers (section 7.3.5).

use mptcplab_openflow::error::{
    BadRequest, ErrorKind, GroupModFailed, MeterModFailed, QueueOpFailed, TableFeaturesFailed,
};
use mptcplab_openflow::flow::ALL_TABLES;
use mptcplab_openflow::multipart::{
    AggregateStats, BucketCounter, FlowStats, FlowStatsRequest, GroupDesc, GroupStats,
    MeterBandStats, MeterConfig, MeterStats, Part, Reply, Request, TableStats,
};
use mptcplab_openflow::queue::ALL_QUEUES;
use mptcplab_openflow::{Action, Elapsed, group, meter, port};

use crate::check;
use crate::group::Group;
use crate::meter::Meter;
use crate::switch::Switch;
use crate::table::entry::Entry;
use crate::table::pattern::Pattern;

/// Most bytes of the entries of one part of a reply.
const PART_BYTES: usize = 60_000;

/// Bytes of entries that always are as long.
const TABLE_BYTES: usize = 24;
const PORT_STATS_BYTES: usize = 112;
const QUEUE_STATS_BYTES: usize = 40;
const PORT_BYTES: usize = 64;
/// Bytes of entries without their buckets or bands, and of one of these.
const GROUP_STATS_BYTES: usize = 40;
const METER_STATS_BYTES: usize = 40;
const METER_CONFIG_BYTES: usize = 8;
const PIECE_BYTES: usize = 16;

/// Divides entries among parts.
fn parts<T>(
    entries: Vec<T>,
    bytes: impl Fn(&T) -> usize,
    reply: impl Fn(Vec<T>) -> Reply,
) -> Vec<Part<Reply>> {
    let mut lists = vec![Vec::new()];
    let mut filled = 0;
    for entry in entries {
        filled += bytes(&entry);
        if filled > PART_BYTES && lists.last().is_some_and(|list| !list.is_empty()) {
            filled = bytes(&entry);
            lists.push(Vec::new());
        }
        if let Some(list) = lists.last_mut() {
            list.push(entry);
        }
    }
    let last = lists.len() - 1;
    let part = |(index, list)| Part {
        more: index < last,
        content: reply(list),
    };
    lists.into_iter().enumerate().map(part).collect()
}

/// A reply of one part.
fn whole(content: Reply) -> Vec<Part<Reply>> {
    vec![Part {
        more: false,
        content,
    }]
}

impl Switch {
    /// The parts of the reply to a request.
    pub(crate) fn multipart(
        &self,
        now_ns: u64,
        request: &Request,
    ) -> Result<Vec<Part<Reply>>, ErrorKind> {
        Ok(match request {
            Request::Desc => whole(Reply::Desc(Box::new(self.description()))),
            Request::Flow(wanted) => {
                let found = self.entries(wanted)?;
                let flows = found.map(|(table, entry)| flow_stats(now_ns, table, entry));
                parts(flows.collect(), FlowStats::encoded_len, Reply::Flow)
            }
            Request::Aggregate(wanted) => {
                let mut sum = AggregateStats::default();
                for (_, entry) in self.entries(wanted)? {
                    sum.packet_count += entry.packets;
                    sum.byte_count += entry.bytes;
                    sum.flow_count += 1;
                }
                whole(Reply::Aggregate(sum))
            }
            Request::Table => parts(self.table_stats(), |_| TABLE_BYTES, Reply::Table),
            Request::PortStats(port) => {
                let found = self.chosen(*port).ok_or(BadRequest::BadPort)?;
                let stats = found.map(|port| port.statistics(now_ns)).collect();
                parts(stats, |_| PORT_STATS_BYTES, Reply::PortStats)
            }
            Request::Queue { port, queue } => self.queue_stats(now_ns, *port, *queue)?,
            Request::Group(group) => self.group_stats(now_ns, *group)?,
            Request::GroupDesc => {
                let groups = self.groups.iter().map(|(number, group)| GroupDesc {
                    group_type: group.group_type,
                    group: number,
                    buckets: group.buckets.iter().map(|one| one.setup.clone()).collect(),
                });
                parts(groups.collect(), GroupDesc::encoded_len, Reply::GroupDesc)
            }
            Request::GroupFeatures => whole(Reply::GroupFeatures(self.group_features())),
            Request::Meter(meter) => {
                let found = self.chosen_meters(*meter)?;
                let stats = found.map(|(number, one)| self.meter_stats(now_ns, number, one));
                let bytes = |one: &MeterStats| METER_STATS_BYTES + one.bands.len() * PIECE_BYTES;
                parts(stats.collect(), bytes, Reply::Meter)
            }
            Request::MeterConfig(meter) => {
                let found = self
                    .chosen_meters(*meter)?
                    .map(|(number, one)| MeterConfig {
                        flags: one.flags,
                        meter: number,
                        bands: one.bands.iter().map(|band| band.setup.clone()).collect(),
                    });
                let bytes = |one: &MeterConfig| METER_CONFIG_BYTES + one.bands.len() * PIECE_BYTES;
                parts(found.collect(), bytes, Reply::MeterConfig)
            }
            Request::MeterFeatures => whole(Reply::MeterFeatures(self.meter_features())),
            Request::TableFeatures(wanted) => {
                // The abilities of tables are fixed.
                if !wanted.is_empty() {
                    return Err(TableFeaturesFailed::Eperm.into());
                }
                let tables = self.table_features();
                parts(tables, |one| one.encoded_len(), Reply::TableFeatures)
            }
            Request::PortDesc => {
                let ports = self.ports.values().map(|port| port.description());
                parts(ports.collect(), |_| PORT_BYTES, Reply::PortDesc)
            }
            Request::Experimenter(_) => return Err(BadRequest::BadExperimenter.into()),
        })
    }

    /// Entries that a request is about.
    fn entries<'a>(
        &'a self,
        wanted: &'a FlowStatsRequest,
    ) -> Result<impl Iterator<Item = (u8, &'a Entry)>, ErrorKind> {
        check::fields(&wanted.fields)?;
        if wanted.table >= self.config.tables && wanted.table != ALL_TABLES {
            return Err(BadRequest::BadTableId.into());
        }
        let pattern = Pattern::new(&wanted.fields);
        let is_wanted = move |entry: &Entry| {
            (entry.cookie ^ wanted.cookie) & wanted.cookie_mask == 0
                && pattern.covers(&entry.pattern)
                && entry.has_output(wanted.out_port, wanted.out_group)
        };
        let tables =
            (0..self.config.tables).filter(|table| [ALL_TABLES, *table].contains(&wanted.table));
        let entries = tables.flat_map(|table| {
            let entries = self.tables[usize::from(table)].entries();
            entries.map(move |(_, entry)| (table, entry))
        });
        Ok(entries.filter(move |(_, entry)| is_wanted(entry)))
    }

    fn table_stats(&self) -> Vec<TableStats> {
        let stats = |(table, found): (u8, &crate::table::Table)| TableStats {
            table,
            active_count: found.len() as u32,
            lookup_count: found.lookups,
            matched_count: found.matched,
        };
        (0..).zip(&self.tables).map(stats).collect()
    }

    /// A port, or all of them.
    fn chosen(&self, wanted: u32) -> Option<impl Iterator<Item = &crate::ports::SwitchPort>> {
        let is_any = wanted == port::number::ANY;
        if !is_any && !self.ports.contains_key(&wanted) {
            return None;
        }
        let ports = self.ports.iter();
        let is_chosen = move |number: u32| is_any || number == wanted;
        Some(
            ports
                .filter(move |(number, _)| is_chosen(**number))
                .map(|(_, port)| port),
        )
    }

    fn queue_stats(
        &self,
        now_ns: u64,
        port: u32,
        queue: u32,
    ) -> Result<Vec<Part<Reply>>, ErrorKind> {
        let mut stats = Vec::new();
        for found in self.chosen(port).ok_or(QueueOpFailed::BadPort)? {
            let wanted = found
                .queue_numbers()
                .filter(|one| [ALL_QUEUES, *one].contains(&queue));
            stats.extend(wanted.filter_map(|one| found.queue_statistics(now_ns, one)));
        }
        if stats.is_empty() && queue != ALL_QUEUES {
            return Err(QueueOpFailed::BadQueue.into());
        }
        Ok(parts(stats, |_| QUEUE_STATS_BYTES, Reply::Queue))
    }

    fn group_stats(&self, now_ns: u64, wanted: u32) -> Result<Vec<Part<Reply>>, ErrorKind> {
        let is_all = wanted == group::number::ALL;
        if !is_all && self.groups.get(wanted).is_none() {
            return Err(GroupModFailed::UnknownGroup.into());
        }
        let found = self
            .groups
            .iter()
            .filter(|(number, _)| is_all || *number == wanted);
        let stats = found.map(|(number, group)| GroupStats {
            group: number,
            ref_count: self.references(number),
            packet_count: group.packets,
            byte_count: group.bytes,
            duration: Elapsed::from_nanos(now_ns - group.since_ns),
            buckets: bucket_counters(group),
        });
        let bytes = |one: &GroupStats| GROUP_STATS_BYTES + one.buckets.len() * PIECE_BYTES;
        Ok(parts(stats.collect(), bytes, Reply::Group))
    }

    /// Entries and buckets that forward to a group.
    fn references(&self, group: u32) -> u32 {
        let forwards = |entry: &Entry| {
            entry
                .instructions
                .actions()
                .any(|one| *one == Action::Group(group))
        };
        let entries = self.tables.iter().flat_map(|table| table.entries());
        let entries = entries.filter(|(_, entry)| forwards(entry)).count();
        entries as u32 + self.groups.references(group)
    }

    fn chosen_meters(&self, wanted: u32) -> Result<impl Iterator<Item = (u32, &Meter)>, ErrorKind> {
        let is_all = wanted == meter::number::ALL;
        if !is_all && !self.meters.contains_key(&wanted) {
            return Err(MeterModFailed::UnknownMeter.into());
        }
        let meters = self.meters.iter().map(|(number, meter)| (*number, meter));
        Ok(meters.filter(move |(number, _)| is_all || *number == wanted))
    }

    fn meter_stats(&self, now_ns: u64, number: u32, meter: &Meter) -> MeterStats {
        let entries = self.tables.iter().flat_map(|table| table.entries());
        let users = entries.filter(|(_, entry)| entry.instructions.meter == Some(number));
        let bands = meter.bands.iter().map(|band| MeterBandStats {
            packet_count: band.packets,
            byte_count: band.bytes,
        });
        MeterStats {
            meter: number,
            flow_count: users.count() as u32,
            packet_in_count: meter.packets,
            byte_in_count: meter.bytes,
            duration: Elapsed::from_nanos(now_ns - meter.since_ns),
            bands: bands.collect(),
        }
    }
}

fn flow_stats(now_ns: u64, table: u8, entry: &Entry) -> FlowStats {
    FlowStats {
        table,
        duration: Elapsed::from_nanos(now_ns - entry.added_ns),
        priority: entry.priority,
        idle_timeout: entry.idle_timeout_s,
        hard_timeout: entry.hard_timeout_s,
        flags: entry.flags,
        cookie: entry.cookie,
        packet_count: entry.packets,
        byte_count: entry.bytes,
        fields: entry.fields.clone(),
        instructions: entry.instructions.written.clone(),
    }
}

fn bucket_counters(group: &Group) -> Vec<BucketCounter> {
    let counter = |bucket: &crate::group::GroupBucket| BucketCounter {
        packet_count: bucket.packets,
        byte_count: bucket.bytes,
    };
    group.buckets.iter().map(counter).collect()
}

//! Abilities of the switch, for controllers (sections 7.3.1 and 7.3.5).

use mptcplab_openflow::action::kind as action;
use mptcplab_openflow::instruction::kind as instruction;
use mptcplab_openflow::meter::{MeterFlags, band};
use mptcplab_openflow::multipart::{
    Desc, FeatureId, GroupCapabilities, GroupFeatures, MeterFeatures, OxmId, TableFeatures,
    TableProperty,
};
use mptcplab_openflow::setup::{Capabilities, Features};
use mptcplab_openflow::{Field, Text};

use crate::check::{is_settable, is_supported};
use crate::switch::Switch;

/// Most bands of a meter.
pub(crate) const MAX_BANDS: u8 = 16;

/// Flags of meters.
pub(crate) const METER_FLAGS: MeterFlags = MeterFlags::KBPS
    .union(MeterFlags::PKTPS)
    .union(MeterFlags::BURST)
    .union(MeterFlags::STATS);

const INSTRUCTIONS: [u16; 5] = [
    instruction::WRITE_METADATA,
    instruction::WRITE_ACTIONS,
    instruction::APPLY_ACTIONS,
    instruction::CLEAR_ACTIONS,
    instruction::METER,
];

const ACTIONS: [u16; 8] = [
    action::OUTPUT,
    action::PUSH_VLAN,
    action::POP_VLAN,
    action::SET_QUEUE,
    action::GROUP,
    action::SET_NW_TTL,
    action::DEC_NW_TTL,
    action::SET_FIELD,
];

fn ids(numbers: &[u16]) -> Vec<FeatureId> {
    numbers.iter().copied().map(FeatureId::Standard).collect()
}

fn fields(is_wanted: impl Fn(Field) -> bool, with_mask: bool) -> Vec<OxmId> {
    let wanted = Field::ALL.iter().filter(|field| is_wanted(**field));
    wanted
        .map(|field| OxmId::of(*field, with_mask && field.is_maskable()))
        .collect()
}

impl Switch {
    pub(crate) fn features(&self) -> Features {
        Features {
            datapath_id: self.config.datapath_id,
            n_buffers: self.config.buffers,
            n_tables: self.config.tables,
            auxiliary_id: 0,
            capabilities: Capabilities::FLOW_STATS
                | Capabilities::TABLE_STATS
                | Capabilities::PORT_STATS
                | Capabilities::GROUP_STATS
                | Capabilities::QUEUE_STATS,
        }
    }

    pub(crate) fn description(&self) -> Desc {
        Desc {
            manufacturer: Text::new("mptcplab"),
            hardware: Text::new("none"),
            software: Text::new(env!("CARGO_PKG_VERSION")),
            serial: Text::new("none"),
            datapath: Text::new(&self.config.description),
        }
    }

    pub(crate) fn group_features(&self) -> GroupFeatures {
        let actions = ACTIONS.iter().fold(0, |bits, number| bits | 1 << number);
        GroupFeatures {
            types: 0b1111,
            capabilities: GroupCapabilities::SELECT_WEIGHT
                | GroupCapabilities::SELECT_LIVENESS
                | GroupCapabilities::CHAINING
                | GroupCapabilities::CHAINING_CHECKS,
            max_groups: [self.config.max_groups; 4],
            actions: [actions; 4],
        }
    }

    pub(crate) fn meter_features(&self) -> MeterFeatures {
        MeterFeatures {
            max_meter: self.config.max_meters,
            band_types: 1 << band::DROP | 1 << band::DSCP_REMARK,
            capabilities: METER_FLAGS.bits().into(),
            max_bands: MAX_BANDS,
            max_color: 0,
        }
    }

    pub(crate) fn table_features(&self) -> Vec<TableFeatures> {
        (0..self.config.tables)
            .map(|table| self.features_of(table))
            .collect()
    }

    fn features_of(&self, table: u8) -> TableFeatures {
        let mut instructions = ids(&INSTRUCTIONS);
        let next: Vec<u8> = (table + 1..self.config.tables).collect();
        if !next.is_empty() {
            instructions.insert(0, FeatureId::Standard(instruction::GOTO_TABLE));
        }
        let settable = fields(is_settable, false);
        let miss = false;
        // The entry for table misses can do what others can, which its own properties would repeat.
        let properties = vec![
            TableProperty::Instructions {
                miss,
                ids: instructions,
            },
            TableProperty::NextTables { miss, tables: next },
            TableProperty::WriteActions {
                miss,
                ids: ids(&ACTIONS),
            },
            TableProperty::ApplyActions {
                miss,
                ids: ids(&ACTIONS),
            },
            TableProperty::Match(fields(is_supported, true)),
            TableProperty::Wildcards(fields(is_supported, false)),
            TableProperty::WriteSetField {
                miss,
                ids: settable.clone(),
            },
            TableProperty::ApplySetField {
                miss,
                ids: settable,
            },
        ];
        TableFeatures {
            table,
            name: Text::new(&format!("table{table}")),
            metadata_match: u64::MAX,
            metadata_write: u64::MAX,
            config: 0,
            max_entries: self.config.max_entries,
            properties,
        }
    }
}

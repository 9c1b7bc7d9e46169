//! The setting up of a switch.

use mptcplab_openflow::port::MacAddress;

/// A queue of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSetup {
    /// The number.
    pub queue: u32,
    /// The rate that is guaranteed, in thousandths of the port's; `None`: none.
    pub min_rate: Option<u16>,
    /// The highest rate, in thousandths of the port's; `None`: the port's.
    pub max_rate: Option<u16>,
}

/// A port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortSetup {
    /// The number, from 1 to [`MAX`](mptcplab_openflow::port::number::MAX).
    pub port: u32,
    /// The name; the first 15 bytes are told.
    pub name: String,
    /// The hardware address.
    pub hw_addr: MacAddress,
    /// The rate, kbit/s; 0: not known.
    pub speed_kbps: u32,
    /// Whether there is a link.
    pub link_up: bool,
    /// Queues. Their rates are told to controllers; the port's owner keeps to them.
    pub queues: Vec<QueueSetup>,
}

impl PortSetup {
    /// A port with a link, a name and an address by its number, and no queues.
    pub fn new(port: u32) -> Self {
        let [_, b, c, d] = port.to_be_bytes();
        Self {
            port,
            name: format!("port{port}"),
            hw_addr: [2, 0, 0, b, c, d],
            speed_kbps: 0,
            link_up: true,
            queues: Vec::new(),
        }
    }
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The number of the datapath.
    pub datapath_id: u64,
    /// Tables, from 1 to 255.
    pub tables: u8,
    /// Most entries of a table.
    pub max_entries: u32,
    /// Most packets in buffers; 0: packets go to the controller as a whole.
    pub buffers: u32,
    /// Most groups.
    pub max_groups: u32,
    /// Most buckets of a group.
    pub max_buckets: u32,
    /// Most meters.
    pub max_meters: u32,
    /// Most entries that are remembered when they have been removed.
    pub max_removed: usize,
    /// Ports.
    pub ports: Vec<PortSetup>,
    /// The switch, for people.
    pub description: String,
}

impl Default for Config {
    /// 16 tables of 65,536 entries, 256 buffers, and no ports; removed entries are forgotten.
    fn default() -> Self {
        Self {
            datapath_id: 1,
            tables: 16,
            max_entries: 1 << 16,
            buffers: 256,
            max_groups: 1 << 16,
            max_buckets: 256,
            max_meters: 1 << 16,
            max_removed: 0,
            ports: Vec::new(),
            description: String::new(),
        }
    }
}

//! Places in the network: ports of switches, and the links between them.

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortRef {
    /// The number of the switch's datapath.
    pub datapath: u64,
    /// The number of the port.
    pub port: u32,
}

/// A link between two switches, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The port that sends.
    pub from: PortRef,
    /// The port that receives.
    pub to: PortRef,
}

impl PortRef {
    /// A port by its switch and its number.
    pub fn new(datapath: u64, port: u32) -> Self {
        Self { datapath, port }
    }
}

impl Link {
    /// The link in the other direction.
    pub fn reversed(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
        }
    }
}

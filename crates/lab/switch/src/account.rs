//! Accounts of packets that add up.

/// The reason why a packet went nowhere, or did not go out by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// It came in by a port that the switch does not have.
    UnknownPort,
    /// The port by which it came in, or was to go out, is down.
    PortDown,
    /// The port by which it came in takes no packets (NO_RECV).
    NoReceive,
    /// It is shorter than an Ethernet header.
    TooShort,
    /// It is an IP fragment, and these are to be dropped.
    Fragment,
    /// No entry matched, nor is there one for table misses.
    TableMiss,
    /// No action sent it anywhere.
    NoOutput,
    /// A meter's band dropped it.
    Meter,
    /// Its TTL is invalid.
    InvalidTtl,
    /// The port by which it was to go out sends no packets (NO_FWD).
    NoForward,
    /// It was to go out by the port by which it came in, without saying so (section 4.5).
    IngressPort,
    /// Its group has no bucket that is live.
    NoLiveBucket,
    /// The port by which it came in gives none to controllers (NO_PACKET_IN).
    NoPacketIn,
    /// No controller takes it.
    NoController,
    /// Too many actions in one packet's way, as only groups of groups can give.
    TooManyActions,
    /// No controller asked for it while it was in a buffer.
    BufferExpired,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 16] = [
        Self::UnknownPort,
        Self::PortDown,
        Self::NoReceive,
        Self::TooShort,
        Self::Fragment,
        Self::TableMiss,
        Self::NoOutput,
        Self::Meter,
        Self::InvalidTtl,
        Self::NoForward,
        Self::IngressPort,
        Self::NoLiveBucket,
        Self::NoPacketIn,
        Self::NoController,
        Self::TooManyActions,
        Self::BufferExpired,
    ];
}

/// Counts by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reasons([u64; DropReason::ALL.len()]);

impl Reasons {
    /// The count of a reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// The sum.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }
}

/// Account of all packets of a switch. At every moment:
///
/// - packets: `received` + `injected` + `unbuffered` = `forwarded` + `dropped`;
/// - copies: `attempts` = `sent` + `packet_ins` + `blocked`;
/// - buffers: `buffered` = `unbuffered` + `expired` + those in buffers now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Packets that came in by ports.
    pub received: u64,
    /// Packets in packet-out messages.
    pub injected: u64,
    /// Packets that messages of controllers took out of buffers.
    pub unbuffered: u64,
    /// Packets of which a copy at least went out by a port or to a controller.
    pub forwarded: u64,
    /// Packets that went nowhere, by the reason that their last copy met.
    pub dropped: Reasons,
    /// Copies: one for each port, or the controllers, that an action or a bucket sent a packet to.
    pub attempts: u64,
    /// Copies that went out by ports.
    pub sent: u64,
    /// Copies that went to controllers, each once, however many controllers got it.
    pub packet_ins: u64,
    /// Copies that went nowhere.
    pub blocked: Reasons,
    /// Packets that were put into buffers, besides.
    pub buffered: u64,
    /// Packets that made room for others in buffers.
    pub expired: u64,
}

//! Settings of MPTCP of a host.

use crate::Nanos;
use crate::path_manager::Limits;
use crate::scheduler::SchedulerKind;

const SECOND: Nanos = 1_000_000_000;

/// Settings of MPTCP of a host. The defaults are Linux's.
#[derive(Clone, Debug)]
pub struct MptcpConfig {
    /// MPTCP is spoken where a socket asks for it (`net.mptcp.enabled`).
    pub enabled: bool,
    /// Ask for checksums of the data (`net.mptcp.checksum_enabled`); used where either end asks.
    pub checksum: bool,
    /// The peer shall open no subflows to the address of the first one
    /// (`net.mptcp.allow_join_initial_addr_port` = 0; the flag C of MP_CAPABLE).
    pub deny_join_initial_address: bool,
    /// Limits of the path manager.
    pub limits: Limits,
    /// SYNs sent with MP_CAPABLE before one is sent without
    /// (`net.mptcp.syn_retrans_before_tcp_fallback`, plus the first).
    pub syns_before_fallback: u32,
    /// Scheduler.
    pub scheduler: SchedulerKind,
    /// When the peer's window is full, send its first unacknowledged data again on a faster
    /// subflow that has not carried it.
    pub opportunistic_retransmission: bool,
    /// After such a retransmission, halve the window of the subflow that held the data up.
    pub penalisation: bool,
    /// How long a connection without a subflow waits for another
    /// (`net.mptcp.close_timeout`).
    pub close_timeout_ns: Nanos,
    /// Time until an ADD_ADDR that was not echoed is sent again; doubled each time.
    pub add_addr_timeout_ns: Nanos,
    /// Send data sequence numbers and data acknowledgements of 4 bytes, the low ones: the sender
    /// may choose (RFC 8684, section 3.3.1). Linux sends 8.
    pub short_numbers: bool,
    /// Times of the worker that asks the path managers.
    pub worker_times: WorkerTimes,
}

/// Time for which a worker that has been called waits for packets and programs that want its
/// processor: so long Linux handles packets before it lets others run (`MAX_SOFTIRQ_TIME`,
/// kernel/softirq.c).
pub const MAX_SOFTIRQ_NS: Nanos = 2_000_000;

/// Times from a call of the worker that asks the path managers to what it sends, of which one is
/// drawn for each call; where there are none, they are asked at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerTimes {
    /// On the end that was connected to, which announces addresses.
    pub announcing_ns: &'static [Nanos],
    /// On the end that connected, which joins.
    pub joining_ns: &'static [Nanos],
}

impl Default for MptcpConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            checksum: false,
            deny_join_initial_address: false,
            limits: Limits {
                subflows: 2,
                add_addr_accepted: 0,
                subflows_per_pair: 1,
            },
            syns_before_fallback: 3,
            scheduler: SchedulerKind::Default,
            opportunistic_retransmission: false,
            penalisation: false,
            close_timeout_ns: 60 * SECOND,
            add_addr_timeout_ns: SECOND,
            short_numbers: false,
            worker_times: WorkerTimes::default(),
        }
    }
}

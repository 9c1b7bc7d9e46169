//! What a run builds and does, with every name resolved and every unit in the field's name.
//!
//! A plan is made from a scenario and one of its variants (`mptcplab.engine`) and reaches an engine
//! as one line of JSON. Both engines read the same plan; what only one of them can do is refused
//! for the other before a plan is made.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use mptcplab_link::{LinkChange, LinkConfig};
use serde::{Deserialize, Serialize};

/// Everything that one run needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Seed of every random stream of the run (loss, jitter, file contents).
    pub seed: u64,
    /// Hosts and routers.
    pub nodes: Vec<Node>,
    /// Links between interfaces of the nodes.
    pub links: Vec<Link>,
    /// What is sent, in the order of the scenario.
    pub traffic: Vec<Traffic>,
    /// What changes while the run lasts, ordered by time.
    pub events: Vec<Event>,
    /// Interval of the telemetry.
    pub sample_interval_ns: u64,
    /// Interfaces whose packets are written to pcapng files.
    pub capture: Option<Capture>,
    /// The run ends here at the latest, whatever the traffic does.
    pub time_limit_ns: u64,
}

/// A host or a router: one network namespace.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Name, unique in the plan.
    pub name: String,
    /// A router forwards packets; a host does not.
    pub router: bool,
    /// Interfaces in the order of the scenario.
    pub interfaces: Vec<Interface>,
    /// Static routes of the main table beside those that follow from the interfaces.
    pub routes: Vec<Route>,
    /// MPTCP settings; ignored by routers.
    pub mptcp: Mptcp,
    /// The clock of a host's TCP and MPTCP shows multiples of this; simulator only.
    pub clock_granularity_ns: u64,
    /// A host's TCP spreads segments over the round trip; simulator only.
    pub pacing: bool,
    /// Other sysctls of the namespace, by dotted name.
    pub sysctls: BTreeMap<String, String>,
}

/// One end of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Name, unique in its node.
    pub name: String,
    /// Addresses with prefix length.
    pub addresses: Vec<Prefix>,
    /// Next hops for what the interface does not reach directly, at most one a family.
    pub gateways: Vec<IpAddr>,
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Time from the moment the interface comes up until its addresses are usable again
    /// (association, authentication). Not applied at the start of the run.
    pub address_delay_ns: u64,
    /// Flags of the MPTCP endpoint of each address; `None` where there is no endpoint.
    pub endpoint: Option<EndpointFlags>,
}

/// An address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// Length of the prefix in bits.
    pub length: u8,
}

/// Flags of an endpoint of the kernel's path manager (`MPTCP_PM_ADDR_FLAG_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointFlags {
    /// Announce the address to the peer (ADD_ADDR).
    #[serde(default)]
    pub signal: bool,
    /// Open a subflow from the address.
    #[serde(default)]
    pub subflow: bool,
    /// Open the subflow as a backup.
    #[serde(default)]
    pub backup: bool,
    /// Open subflows to every address of the peer.
    #[serde(default)]
    pub fullmesh: bool,
}

/// A static route.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Destination; length 0 is the default route.
    pub to: Prefix,
    /// Next hop.
    pub via: IpAddr,
}

/// MPTCP settings of a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mptcp {
    /// `net.mptcp.enabled`.
    pub enabled: bool,
    /// `net.mptcp.checksum_enabled`.
    pub checksum: bool,
    /// `net.mptcp.syn_retrans_before_tcp_fallback`.
    pub syn_retries: Option<u32>,
    /// `net.mptcp.scheduler` on the kernel engine; on the simulator `default`, `lowest-rtt`,
    /// `round-robin`, `redundant`, `blest` or `ecf`.
    pub scheduler: Option<String>,
    /// What the schedulers of the simulator can be told beside their name.
    #[serde(default)]
    pub scheduler_options: SchedulerOptions,
    /// Subflows on the address pair of the initial one (`ndiffports`), itself included; 1 is none more.
    /// Done through the userspace path manager interface where above 1.
    pub subflows_per_pair: u32,
    /// Limit of additional subflows of a connection.
    pub limit_subflows: u32,
    /// Limit of accepted ADD_ADDR of a connection.
    pub limit_add_addr_accepted: u32,
    /// Applications open and close subflows themselves; the node's path manager opens none.
    #[serde(default)]
    pub by_application: bool,
}

/// Options of the simulator's schedulers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerOptions {
    /// Round robin: segments in turn on each subflow.
    pub num_segments: u32,
    /// Round robin: skip subflows whose congestion window is full instead of waiting for them.
    pub cwnd_limited: bool,
    /// When the connection's window is full, send its first unacknowledged segment again on a
    /// subflow that has room and has not carried it.
    pub opportunistic_retransmission: bool,
    /// After such a retransmission, halve the window of the subflow that held the segment up.
    pub penalisation: bool,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            num_segments: 1,
            cwnd_limited: true,
            opportunistic_retransmission: false,
            penalisation: false,
        }
    }
}

/// A link between two interfaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Name, unique in the plan.
    pub name: String,
    /// Its two ends; direction 0 carries packets from `ends[0]` to `ends[1]`.
    pub ends: [InterfaceRef; 2],
    /// How it treats packets.
    pub config: LinkConfig,
    /// Let the hosts hand over large segments (TSO): for fast links.
    pub offload: bool,
    /// What stands in the link and interferes, in the order in which a packet of direction 0
    /// meets it. Packets meet it after their propagation. Only the simulator has middleboxes.
    #[serde(default)]
    pub middleboxes: Vec<Middlebox>,
}

/// A box in a link that does more to packets than a link may.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Middlebox {
    /// Translates addresses and ports (RFC 4787: endpoint-independent mapping, address- and
    /// port-dependent filtering).
    Nat {
        /// The end of the link (0 or 1) whose node is behind it.
        inside: usize,
        /// Its outer address; nodes outside reach it over this link.
        address: IpAddr,
    },
    /// Replaces TCP options by padding.
    StripOptions {
        /// Option kinds; 30 is MPTCP.
        kinds: Vec<u8>,
        /// MPTCP subtypes to strip where 30 is among the kinds; all where empty.
        #[serde(default)]
        mptcp_subtypes: Vec<u8>,
        /// From which segments.
        on: SegmentKind,
        /// In which direction; both where `None`.
        direction: Option<usize>,
    },
    /// Cuts segments with more payload into several, and copies the options to each.
    Split {
        /// Largest payload that passes, bytes.
        payload_bytes: u32,
        /// In which direction; both where `None`.
        direction: Option<usize>,
    },
    /// Joins consecutive segments of a connection, keeping the options of the first.
    Coalesce {
        /// Largest payload of a joined segment, bytes.
        payload_bytes: u32,
        /// Longest wait for a next segment.
        hold_ns: u64,
        /// In which direction; both where `None`.
        direction: Option<usize>,
    },
    /// Acknowledges data in the receiver's name, and sends it again itself when it is lost
    /// behind the box.
    ProxyAck {
        /// The end of the link (0 or 1) towards the sender whose data it acknowledges.
        sender: usize,
    },
    /// Drops segments that carry a TCP option that a firewall of 1999 does not know: any but end,
    /// padding, MSS, window scale, SACK and timestamps.
    DropUnknownOptions {
        /// Of which segments.
        on: SegmentKind,
        /// In which direction; both where `None`.
        direction: Option<usize>,
    },
    /// Changes a byte of the payload and mends the TCP checksum, as an application-level gateway
    /// does.
    ChangePayload {
        /// Probability for each segment with payload.
        probability: f64,
        /// In which direction; both where `None`.
        direction: Option<usize>,
    },
    /// Flips a bit of a packet and mends nothing.
    Corrupt {
        /// Probability for each packet.
        probability: f64,
        /// In which direction; both where `None`.
        direction: Option<usize>,
    },
}

/// Which segments of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// SYN without ACK.
    Syn,
    /// SYN with ACK.
    SynAck,
    /// Neither SYN nor payload.
    Ack,
    /// With payload.
    Data,
    /// Any.
    All,
}

/// An interface of a node, by indices into the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceRef {
    /// Index into [`Plan::nodes`].
    pub node: usize,
    /// Index into [`Node::interfaces`].
    pub interface: usize,
}

/// Transport of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Plain TCP (`IPPROTO_TCP`).
    Tcp,
    /// Multipath TCP (`IPPROTO_MPTCP`).
    Mptcp,
}

/// Which way the payload flows; up is from the client to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// From the client to the server.
    Up,
    /// From the server to the client.
    Down,
    /// Both at once, over one connection each.
    Both,
}

/// One client's traffic.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Name, unique in the plan; the `traffic` column of the recording.
    pub name: String,
    /// Node of the client.
    pub client: usize,
    /// Node of the server; the same as the client where there is none (a command).
    pub server: usize,
    /// Transport of its connections.
    pub protocol: Protocol,
    /// Local address of the client's (initial) connections; the kernel chooses where `None`.
    pub source: Option<IpAddr>,
    /// Address of the server that the client connects to.
    pub target: IpAddr,
    /// Port of the server; unique among the servers of a node.
    pub port: u16,
    /// When it starts.
    pub start_ns: u64,
    /// Congestion control of the client's sockets.
    pub congestion_control: String,
    /// Congestion control of the server's sockets.
    pub server_congestion_control: String,
    /// Additional subflows that must join, or the run is reported as not multipath; 0 expects none.
    pub expected_joins: u32,
    /// Subflows that the client's application opens as soon as a connection is established.
    #[serde(default)]
    pub subflows: Vec<OwnSubflow>,
    /// What is sent.
    pub workload: Workload,
}

/// A subflow that an application opens by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSubflow {
    /// Local address of the client.
    pub source: IpAddr,
    /// Address of the server; its port is the traffic's.
    pub target: IpAddr,
}

/// How requests and responses go.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Size of the request.
    pub request_bytes: u32,
    /// Size of the response.
    pub response_bytes: u32,
    /// Time between the starts of requests; 0 sends the next one at once.
    pub interval_ns: u64,
    /// How many.
    pub count: u32,
}

/// What a client and its server do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Workload {
    /// As much as the connection carries, until a time or an amount.
    Bulk {
        /// Which way.
        way: Way,
        /// Parallel connections (each way where `way` is both).
        streams: u32,
        /// Ends after this time from its start; `None` where `bytes` is given.
        duration_ns: Option<u64>,
        /// Ends after this payload a stream.
        bytes: Option<u64>,
        /// The application offers no more than this; as fast as it can where `None`. Only the
        /// simulator has rate-limited senders.
        #[serde(default)]
        rate_bps: Option<u64>,
    },
    /// Downloads over HTTP/1.1, a connection each, one after the other.
    Http {
        /// Payload of each download.
        bytes: u64,
        /// How many.
        count: u32,
    },
    /// One file over FTP, stored or retrieved `count` times by a real client and server.
    Ftp {
        /// Up stores, down retrieves; `both` is refused before it comes here.
        way: Way,
        /// Size of the file.
        bytes: u64,
        /// How many times.
        count: u32,
    },
    /// ICMP echo.
    Ping {
        /// Time between requests.
        interval_ns: u64,
        /// How many.
        count: u32,
        /// ICMP payload.
        payload_bytes: u32,
    },
    /// UDP datagrams at a constant rate, with exponentially distributed pauses where asked for:
    /// cross traffic. Only the simulator has it.
    Datagrams {
        /// Which way; `both` sends the rate each way.
        way: Way,
        /// Rate of IP packets while it sends.
        rate_bps: u64,
        /// Size of each IP packet.
        packet_bytes: u32,
        /// Ends after this time from its start.
        duration_ns: u64,
        /// Mean length of the bursts and of the pauses between them; none where `None`.
        on_off_ns: Option<[u64; 2]>,
    },
    /// Request and response over one connection, one outstanding.
    RequestResponse(Requests),
    /// Any command, run inside the client's host.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// A command to run inside the server's host before it, ended when the client's ends.
        server_argv: Option<Vec<String>>,
        /// Ends the command after this time; its end by then is no error.
        duration_ns: Option<u64>,
    },
}

/// A change at a time.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When.
    pub at_ns: u64,
    /// What.
    pub action: Action,
    /// The event in the scenario's words, for reports.
    pub label: String,
}

/// What an event changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// New parameters of a link; `carrier` also changes what its two interfaces see.
    Link {
        /// Index into [`Plan::links`].
        link: usize,
        /// What changes.
        change: LinkChange,
        /// `Some(false)`: both interfaces lose their carrier, as when a cable is pulled;
        /// `Some(true)`: it is back; `None`: the hosts see nothing.
        carrier: Option<bool>,
    },
    /// `ip link set … up|down` on a host.
    Interface {
        /// Which.
        interface: InterfaceRef,
        /// Up or down.
        up: bool,
    },
    /// Changes the backup flag of the endpoints of an interface (MP_PRIO).
    Backup {
        /// Which.
        interface: InterfaceRef,
        /// The new flag.
        backup: bool,
    },
    /// Opens or closes a subflow of every connection of an item of traffic, on the client's side,
    /// as an application would.
    Subflow {
        /// Index into [`Plan::traffic`].
        traffic: usize,
        /// Local address of the client.
        source: IpAddr,
        /// Address of the server; its port is the traffic's.
        target: IpAddr,
        /// Open, or close.
        open: bool,
    },
}

/// Which packets are written, and where.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Folder of the files `NODE-INTERFACE.pcapng`; it exists.
    pub folder: PathBuf,
    /// Interfaces to capture.
    pub interfaces: Vec<InterfaceRef>,
    /// Bytes kept of each packet.
    pub snap_length: u32,
}

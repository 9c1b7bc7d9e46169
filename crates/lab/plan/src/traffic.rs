//! Traffic between clients and servers.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Transport of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// Plain TCP (`IPPROTO_TCP`).
    Tcp,
    /// Multipath TCP (`IPPROTO_MPTCP`).
    Mptcp,
}

/// The direction of the payload.
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

impl Way {
    /// The directions of the connections, one each.
    pub fn each(self) -> &'static [Self] {
        match self {
            Self::Up => &[Self::Up],
            Self::Down => &[Self::Down],
            Self::Both => &[Self::Up, Self::Down],
        }
    }
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
    /// Its start.
    pub start_ns: u64,
    /// Congestion control of the client's sockets.
    pub congestion_control: String,
    /// Congestion control of the server's sockets.
    pub server_congestion_control: String,
    /// Both ends have sockets of IPv6 that take IPv4 too (`IPV6_V6ONLY` off), so that subflows of
    /// both families may join; the first one is of that of `target`.
    #[serde(default)]
    pub dual_stack: bool,
    /// Additional subflows that must join, or the run is reported as not multipath; 0 expects none.
    pub expected_joins: u32,
    /// Subflows that the client's application opens as soon as a connection is established.
    #[serde(default)]
    pub subflows: Vec<OwnSubflow>,
    /// The kind of traffic.
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

/// The pattern of requests and responses.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Size of the request.
    pub request_bytes: u32,
    /// Size of the response.
    pub response_bytes: u32,
    /// Time between the starts of requests; 0 sends the next one at once.
    pub interval_ns: u64,
    /// Number of requests.
    pub count: u32,
}

/// The kind of traffic between a client and its server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Workload {
    /// As much as the connection carries, until a time or an amount.
    Bulk {
        /// Direction of the payload.
        way: Way,
        /// Parallel connections (each way where `way` is both).
        streams: u32,
        /// Ends after this time from its start; `None` where `bytes` is given.
        duration_ns: Option<u64>,
        /// Ends after this payload a stream.
        bytes: Option<u64>,
        /// The application offers no more than this; as fast as it can where `None`.
        #[serde(default)]
        rate_bps: Option<u64>,
    },
    /// Downloads over HTTP/1.1, a connection each, one after the other.
    Http {
        /// Payload of each download.
        bytes: u64,
        /// Their number.
        count: u32,
    },
    /// One file over FTP, stored or retrieved `count` times by a real client and server.
    Ftp {
        /// Up stores, down retrieves; `both` is refused before it comes here.
        way: Way,
        /// Size of the file.
        bytes: u64,
        /// Number of transfers.
        count: u32,
    },
    /// ICMP echo.
    Ping {
        /// Time between requests.
        interval_ns: u64,
        /// Their number.
        count: u32,
        /// ICMP payload.
        payload_bytes: u32,
    },
    /// UDP datagrams at a constant rate, with exponentially distributed pauses where asked for:
    /// cross traffic.
    Datagrams {
        /// Direction; `both` sends the rate each way.
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
    /// Frames made at a constant rate from the start on, each of use until its deadline, over one
    /// connection. It ends with the last frame, or a deadline after its duration.
    Stream {
        /// Direction of the payload; `both` is refused before it comes here.
        way: Way,
        /// Rate at which payload is made.
        rate_bps: u64,
        /// Payload of each frame.
        frame_bytes: u64,
        /// Time from its making in which a frame is of use.
        deadline_ns: u64,
        /// Frames are made for this time from the start.
        duration_ns: u64,
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

//! Messages of the control channel, as JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::settings::Settings;
use crate::syn::SynOptions;

/// The version of the protocol; a target tells those that it speaks. Version 1 compared no payload,
/// and told no settings.
pub const VERSION: u16 = 2;
/// Connections of an experiment at most.
pub const MOST_CONNECTIONS: usize = 8;
/// Messages that a connection echoes at most.
pub const MOST_ECHOES: u16 = 2_000;
/// Length of each of them.
pub const ECHO_BYTES: usize = 16;
/// Payload that a connection carries each way at most where both ends compare it: what sockets hold
/// before the other end reads any.
pub const MOST_COMPARED_BYTES: u16 = 32_000;
/// Time that an experiment may take at most.
pub const LONGEST_MS: u32 = 60_000;
/// Data that an experiment may move at most.
pub const LARGEST_BYTES: u64 = 1 << 40;
/// Letters of a congestion control's name at most (`TCP_CA_NAME_MAX` of Linux, without its end).
pub const LONGEST_CONGESTION_CONTROL: usize = 15;

/// Requests of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// The answer to the challenge.
    Prove {
        /// The version that the probe has chosen.
        version: u16,
        /// The name of its secret.
        holder: String,
        /// The authentication code of the challenge under the secret.
        proof: String,
    },
    /// An experiment is to be carried out; its connections come next.
    Reserve(Experiment),
    /// The probe's ends of all connections are done.
    Finish {},
}

/// Answers of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The first message.
    Hello {
        /// Versions that the target speaks.
        versions: Vec<u16>,
        /// Random bytes, in hexadecimal digits.
        challenge: String,
    },
    /// The proof is right.
    Welcome(Terms),
    /// The experiment may begin.
    Granted {
        /// Random bytes that the authorisations of its connections are made of.
        nonce: String,
    },
    /// Another experiment is under way.
    Busy {
        /// Time until it must have ended.
        retry_ms: u32,
    },
    /// It is not done; the channel stays open after a proof that was right.
    Refused {
        /// A sentence without a stop.
        reason: String,
    },
    /// The target's account of the experiment.
    Report {
        /// One for each connection, in order; null where it never came.
        connections: Vec<Option<Ended>>,
        /// Mappings of MPTCP with a wrong checksum that came to the target's network namespace
        /// meanwhile; null where its kernel does not tell.
        wrong_checksums: Option<u64>,
    },
}

/// Terms under which a target serves a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The port for data.
    pub data_port: u16,
    /// The greatest rate, where there is one.
    pub rate_limit_bps: Option<u64>,
    /// Data that this holder may still move, where that is limited.
    pub volume_left_bytes: Option<u64>,
    /// The target's settings.
    pub settings: Settings,
}

/// The use of a connection, seen by the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Role {
    /// The target sends.
    Send,
    /// The target receives.
    Receive,
    /// The target sends each message back, so many at most.
    Echo(u16),
    /// Both ends send so many bytes that the other one knows, and compare what comes.
    Compare(u16),
}

/// Some connections at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Data that all of them carry together at most, echoes aside.
    pub bytes: u64,
    /// Time after which no more is sent.
    pub longest_ms: u32,
    /// Congestion control at the target; its own default without.
    pub congestion_control: Option<String>,
    /// The connections.
    pub connections: Vec<Role>,
}

/// A name that a congestion control can have.
pub fn is_congestion_control(name: &str) -> bool {
    (1..=LONGEST_CONGESTION_CONTROL).contains(&name.len())
        && name.bytes().all(|letter| letter.is_ascii_graphic())
}

impl Experiment {
    /// All that it can move, both ways.
    pub fn most_bytes(&self) -> u64 {
        let both_ways = self.connections.iter().map(|role| role.both_ways_bytes());
        self.bytes.saturating_add(both_ways.sum())
    }

    /// Connections whose data go one way, and share [`Self::bytes`].
    pub fn bulk_connections(&self) -> usize {
        let roles = self.connections.iter();
        roles.filter(|role| role.is_bulk()).count()
    }

    /// Tells what is beyond the limits.
    ///
    /// # Errors
    /// A sentence without a stop.
    pub fn check(&self) -> Result<(), String> {
        let count = self.connections.len();
        let sends = self.connections.contains(&Role::Send);
        if count == 0 || count > MOST_CONNECTIONS {
            return Err(format!(
                "{count} connections, where 1 to {MOST_CONNECTIONS} are taken"
            ));
        }
        if sends && self.connections.contains(&Role::Receive) {
            return Err("an experiment sends or receives, not both".to_owned());
        }
        if self.bytes == 0 && self.bulk_connections() > 0 {
            return Err("no bytes to be sent or received".to_owned());
        }
        self.connections.iter().try_for_each(|role| role.check())?;
        if self.bytes > LARGEST_BYTES {
            return Err(format!(
                "{} bytes, where at most {LARGEST_BYTES} are taken",
                self.bytes
            ));
        }
        let control = self.congestion_control.as_deref();
        if !control.is_none_or(is_congestion_control) {
            return Err(format!(
                "a congestion control's name has 1 to {LONGEST_CONGESTION_CONTROL} letters"
            ));
        }
        if self.longest_ms > LONGEST_MS {
            return Err(format!(
                "{} ms, where at most {LONGEST_MS} are taken",
                self.longest_ms
            ));
        }
        Ok(())
    }
}

impl Role {
    /// Data go one way.
    pub fn is_bulk(self) -> bool {
        matches!(self, Self::Send | Self::Receive)
    }

    /// Bytes of its echoes, or of what is compared, at most, both ways.
    pub fn both_ways_bytes(self) -> u64 {
        match self {
            Self::Echo(count) => 2 * u64::from(count) * ECHO_BYTES as u64,
            Self::Compare(bytes) => 2 * u64::from(bytes),
            Self::Send | Self::Receive => 0,
        }
    }

    fn check(self) -> Result<(), String> {
        let (asked, most, unit) = match self {
            Self::Echo(count) => (count, MOST_ECHOES, "echoes"),
            Self::Compare(bytes) => (bytes, MOST_COMPARED_BYTES, "bytes to be compared"),
            Self::Send | Self::Receive => return Ok(()),
        };
        match asked <= most {
            true => Ok(()),
            false => Err(format!("{asked} {unit}, where at most {most} are taken")),
        }
    }
}

/// One end's account of a connection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// Payload that was written to the socket, without the bytes that open it.
    pub sent_bytes: u64,
    /// Payload that was read from it.
    pub received_bytes: u64,
    /// Time from the experiment's first request to the last payload that was received.
    pub duration_us: u64,
    /// Payload that all connections of the experiment had received by then.
    pub moved_by_all_bytes: u64,
    /// Time from that request to the end of this connection's data at this end.
    pub ended_us: u64,
    /// Payload that all connections of the experiment had received by then.
    pub ended_moved_by_all_bytes: u64,
    /// The reason of that end; none where no data were asked for, or none could begin.
    pub ended_by: Option<Ending>,
    /// Milliseconds since that request, and payload received until then.
    pub samples: Vec<(u32, u64)>,
    /// The reason of the system for which it ended early.
    pub failure: Option<String>,
    /// The kernel's account, before the socket was closed.
    pub seen: Seen,
    /// Options of its SYN, where they could be looked at.
    pub syn: Option<SynOptions>,
    /// Bytes that came and were not those that the other end had sent; none where they were not to be
    /// compared.
    pub changed_bytes: Option<u64>,
}

/// The reason for which the data of a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// This end has sent all that was granted.
    AllSent,
    /// The peer has closed its side.
    EndOfStream,
    /// The time was over.
    TimeOver,
    /// The probe wanted no more of it, or the target was ended.
    Stopped,
    /// The system's, or more data than were granted.
    Error,
}

/// The kernel's account of a connection, as its owner gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// It is MPTCP, and has not fallen back.
    pub mptcp: bool,
    /// Addresses that were announced to the peer.
    pub announced: u8,
    /// Announced addresses that were taken from it.
    pub accepted: u8,
    /// Additional subflows that are allowed; none known of TCP.
    pub subflows_allowed: Option<u8>,
    /// Endpoints from which subflows are opened; none known of TCP.
    pub endpoints: Option<u8>,
    /// Established subflows; of TCP the connection itself.
    pub subflows: Vec<SeenSubflow>,
    /// The congestion control of this end, where the kernel tells.
    pub congestion_control: Option<String>,
    /// Checksums of MPTCP are in use; none known of TCP.
    pub checksum: Option<bool>,
    /// The SYN/ACK acknowledged data of the SYN.
    pub syn_data_acked: Option<bool>,
    /// The reason for which TCP Fast Open failed at this end, which opened the connection.
    pub fast_open_failure: Option<FastOpenFailure>,
}

/// See [`mptcplab_linux::FastOpenFailure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FastOpenFailure {
    /// There was no cookie, so that one was asked for.
    CookieUnavailable,
    /// The SYN/ACK did not acknowledge the data.
    DataNotAcked,
    /// The same, of a SYN that was sent again, without data.
    SynRetransmitted,
}

/// A subflow, as one end sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenSubflow {
    /// Its address here.
    pub local: String,
    /// Its address there.
    pub remote: String,
    /// Payload sent, what was sent again excluded, where the kernel tells.
    pub sent_bytes: Option<u64>,
    /// Payload received.
    pub received_bytes: Option<u64>,
    /// Smoothed round-trip time.
    pub rtt_us: Option<u32>,
}

/// A message that is none of the protocol.
#[derive(Debug, Error)]
#[error("no message of this protocol: {0}")]
pub struct NoMessage(serde_json::Error);

/// A message as bytes.
pub fn to_bytes(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have string keys only")
}

/// The message that bytes are.
///
/// # Errors
/// Where they are none.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, NoMessage> {
    serde_json::from_slice(bytes).map_err(NoMessage)
}

#[cfg(test)]
mod tests;

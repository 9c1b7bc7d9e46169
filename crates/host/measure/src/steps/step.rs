//! A step: some connections at once, for one purpose, and the data that they use at most.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::authorisation::OPENING_BYTES as CODE_AND_PLACE_BYTES;
use crate::client::{Path, Plan, Protocol, Wanted};
use crate::message::{ECHO_BYTES, MOST_CONNECTIONS, Role};

/// Paths that a step uses at most.
pub const MOST_PATHS: usize = MOST_CONNECTIONS;

/// Of each connection: its authorisation, and the target's consent.
const OPENING_BYTES: u64 = CODE_AND_PLACE_BYTES as u64 + 1;
/// Of each message that is echoed, both ways.
const BOTH_WAYS_BYTES: u64 = 2 * ECHO_BYTES as u64;
/// Payload that both ends compare, each way.
const COMPARED_BYTES: u16 = 10_000;
/// Of a transfer; what has not come by then does not come.
const LONGEST_MS: u32 = 20_000;
/// Of a transfer that is there to load a path.
const LOADED_MS: u32 = 2_000;
const IDLE_ECHOES: u16 = 10;
/// At most, while a transfer lasts.
const LOADED_ECHOES: u16 = 200;
const SURVIVAL_ECHOES: u16 = 15;
const FAST_OPEN_ECHOES: u16 = 1;
const ECHO_INTERVAL_MS: u32 = 20;
/// So that there is time for subflows to be opened.
const SURVIVAL_INTERVAL_MS: u32 = 60;
/// The same where a lost SYN is to be sent again: 3.3 s in all.
const LONG_INTERVAL_MS: u32 = 220;
/// Of the control channel, for each step.
const CONTROL_BYTES: u64 = 4_000;
/// Of the target's report, for each connection.
const REPORT_BYTES: u64 = 1_300;
/// Of it for samples of a transfer; there are ten a second.
pub(super) const SAMPLES_BYTES: u64 = 18 * 10 * (LONGEST_MS as u64 / 1_000 + 15);

/// Purpose of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Options of the SYN, and MPTCP, on a path.
    Survival,
    /// Payload as it was sent, and checksums of MPTCP, on a path.
    Payload,
    /// Data in the SYN, of TCP and of MPTCP, on a path.
    FastOpen,
    /// Round-trip time of a path that carries nothing.
    Idle,
    /// The same while TCP downloads over it for a while.
    Loaded,
    /// A transfer over one path.
    Tcp,
    /// The same by MPTCP over all paths.
    Mptcp,
    /// The same by TCP over all paths at once.
    AtOnce,
}

/// Where data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the target.
    Down,
    /// To the target.
    Up,
}

/// Some connections at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Step {
    /// Its purpose.
    pub kind: Kind,
    /// The number of its repetition; of [`Kind::Survival`] and [`Kind::FastOpen`] that of the look:
    /// the first one of the latter gets a cookie.
    pub repetition: u32,
    /// Number of the path; none where all are used.
    pub path: Option<usize>,
    /// Where data go; none where only echoes do.
    pub direction: Option<Direction>,
    /// Data that are asked for.
    pub size_bytes: u64,
}

impl Step {
    /// A step without data.
    pub(super) fn of_path(kind: Kind, repetition: u32, path: usize) -> Self {
        Self {
            kind,
            repetition,
            path: Some(path),
            direction: None,
            size_bytes: 0,
        }
    }

    /// It tells what passes on a path, which is worth to be known also without MPTCP.
    pub(super) fn is_look(&self) -> bool {
        matches!(self.kind, Kind::Survival | Kind::Payload | Kind::FastOpen)
    }

    /// Time between two messages that are echoed.
    pub(super) fn interval_ms(&self) -> u32 {
        match (self.kind, self.repetition) {
            (Kind::Survival, 0) => SURVIVAL_INTERVAL_MS,
            (Kind::Survival, _) => LONG_INTERVAL_MS,
            _ => ECHO_INTERVAL_MS,
        }
    }

    /// The data that it moves at most over so many paths, with those of the control channel.
    pub fn most_bytes(&self, paths: usize) -> u64 {
        let (connections, echoes) = match (self.kind, self.repetition) {
            (Kind::Survival, _) => (2, SURVIVAL_ECHOES + 1),
            (Kind::FastOpen, 0) => (1, FAST_OPEN_ECHOES),
            (Kind::FastOpen, _) => (3, 3 * FAST_OPEN_ECHOES),
            (Kind::Idle, _) => (1, IDLE_ECHOES),
            (Kind::Loaded, _) => (2, LOADED_ECHOES),
            (Kind::Payload | Kind::Tcp | Kind::Mptcp, _) => (1, 0),
            (Kind::AtOnce, _) => (paths as u64, 0),
        };
        let compared = match self.kind {
            Kind::Payload => Role::Compare(COMPARED_BYTES).both_ways_bytes(),
            _ => 0,
        };
        let samples = if self.size_bytes > 0 {
            SAMPLES_BYTES
        } else {
            0
        };
        let of_each = OPENING_BYTES + REPORT_BYTES + samples;
        let without_data =
            connections * of_each + u64::from(echoes) * BOTH_WAYS_BYTES + compared + CONTROL_BYTES;
        self.size_bytes.saturating_add(without_data)
    }

    /// The connections; MPTCP begins on the path with the number `begin`.
    ///
    /// # Panics
    /// Where there is no path of that number, or of the step's own.
    pub fn plan(
        &self,
        paths: &[Path],
        target: IpAddr,
        begin: usize,
        congestion_control: Option<&str>,
    ) -> Plan {
        let one = |path: usize, protocol, role| Wanted {
            source: paths[path].source,
            device: paths[path].device.clone(),
            target,
            protocol,
            role,
            interval_ms: self.interval_ms(),
            witness: false,
            fast_open: false,
        };
        let fast = |protocol, witness| Wanted {
            witness,
            fast_open: true,
            ..one(
                self.path.unwrap_or(begin),
                protocol,
                Role::Echo(FAST_OPEN_ECHOES),
            )
        };
        let bulk = match self.direction {
            Some(Direction::Up) => Role::Receive,
            Some(Direction::Down) | None => Role::Send,
        };
        let number = self.path.unwrap_or(begin);
        let connections = match self.kind {
            Kind::Survival => {
                let witness = Wanted {
                    witness: true,
                    ..one(number, Protocol::Mptcp, Role::Echo(1))
                };
                let alone = one(number, Protocol::Mptcp, Role::Echo(SURVIVAL_ECHOES));
                vec![witness, alone]
            }
            Kind::Payload => {
                vec![one(number, Protocol::Mptcp, Role::Compare(COMPARED_BYTES))]
            }
            // A SYN that asks for a cookie has no room for it beside MPTCP in the answer.
            Kind::FastOpen if self.repetition == 0 => vec![fast(Protocol::Tcp, true)],
            Kind::FastOpen => vec![
                fast(Protocol::Tcp, true),
                fast(Protocol::Mptcp, true),
                fast(Protocol::Mptcp, false),
            ],
            Kind::Idle => vec![one(number, Protocol::Tcp, Role::Echo(IDLE_ECHOES))],
            Kind::Loaded => vec![
                one(number, Protocol::Tcp, bulk),
                one(number, Protocol::Tcp, Role::Echo(LOADED_ECHOES)),
            ],
            Kind::Tcp => vec![one(number, Protocol::Tcp, bulk)],
            Kind::Mptcp => vec![one(number, Protocol::Mptcp, bulk)],
            Kind::AtOnce => (0..paths.len())
                .map(|path| one(path, Protocol::Tcp, bulk))
                .collect(),
        };
        Plan {
            bytes: self.size_bytes,
            longest_ms: match self.kind {
                Kind::Loaded => LOADED_MS,
                _ => LONGEST_MS,
            },
            congestion_control: congestion_control.map(str::to_owned),
            connections,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Vec<Path> {
        let path = |number: u8| Path {
            interface: format!("eth{number}"),
            source: IpAddr::from([10, 0, number, 1]),
            device: (number == 2).then(|| "eth2".to_owned()),
            index: number.into(),
        };
        vec![path(1), path(2)]
    }

    fn plan(kind: Kind, path: Option<usize>, direction: Direction, begin: usize) -> Plan {
        let step = Step {
            kind,
            repetition: 0,
            path,
            direction: Some(direction),
            size_bytes: 1_000,
        };
        step.plan(&paths(), IpAddr::from([10, 0, 9, 1]), begin, Some("reno"))
    }

    #[test]
    fn mptcp_begins_where_it_is_told_to_and_tcp_uses_its_path() {
        let mptcp = plan(Kind::Mptcp, None, Direction::Up, 1);
        let [one] = &mptcp.connections[..] else {
            panic!("one connection")
        };
        assert_eq!((one.role, one.protocol), (Role::Receive, Protocol::Mptcp));
        assert_eq!(one.device.as_deref(), Some("eth2"));
        assert_eq!(mptcp.congestion_control.as_deref(), Some("reno"));
        let tcp = plan(Kind::Tcp, Some(0), Direction::Down, 1);
        assert_eq!(tcp.connections[0].source, IpAddr::from([10, 0, 1, 1]));
        assert_eq!(tcp.connections[0].role, Role::Send);
        let at_once = plan(Kind::AtOnce, None, Direction::Down, 0);
        let sources: Vec<_> = at_once.connections.iter().map(|one| one.source).collect();
        assert_eq!(sources, [[10, 0, 1, 1], [10, 0, 2, 1]].map(IpAddr::from));
        assert_eq!(at_once.bytes, 1_000);
    }

    #[test]
    fn data_in_a_syn_are_tried_once_there_is_a_cookie() {
        let looks = [0, 1, 2].map(|look| {
            let step = Step::of_path(Kind::FastOpen, look, 0);
            let plan = step.plan(&paths(), IpAddr::from([10, 0, 9, 1]), 0, None);
            assert!(plan.connections.iter().all(|one| one.fast_open));
            let of_each = plan.connections.iter();
            of_each
                .map(|one| (one.protocol, one.witness))
                .collect::<Vec<_>>()
        });
        let data = [
            (Protocol::Tcp, true),
            (Protocol::Mptcp, true),
            (Protocol::Mptcp, false),
        ];
        assert_eq!(looks, [data[..1].to_vec(), data.to_vec(), data.to_vec()]);
    }

    #[test]
    fn a_loaded_path_has_pings_beside_its_transfer_and_survival_a_witness() {
        let loaded = plan(Kind::Loaded, Some(1), Direction::Down, 0);
        let roles: Vec<_> = loaded.connections.iter().map(|one| one.role).collect();
        assert_eq!(roles, [Role::Send, Role::Echo(200)]);
        assert_eq!(loaded.longest_ms, 2_000);
        let looks = [0, 1].map(|look| {
            let step = Step::of_path(Kind::Survival, look, 1);
            step.plan(&paths(), IpAddr::from([10, 0, 9, 1]), 0, None)
        });
        assert_eq!(
            looks.each_ref().map(|one| one.connections[0].interval_ms),
            [60, 220]
        );
        assert_eq!(
            looks[0]
                .connections
                .iter()
                .map(|one| one.witness)
                .collect::<Vec<_>>(),
            [true, false]
        );
    }
}

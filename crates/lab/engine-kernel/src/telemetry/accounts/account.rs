//! The account of one TCP socket over its life.

use std::net::SocketAddr;

use mptcplab_link::Nanos;
use mptcplab_linux::TcpInfo;

/// Local and remote address and port.
pub(crate) type Pair = (SocketAddr, SocketAddr);

/// A reading of a TCP socket, plain or a subflow, at one time.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) t_ns: Nanos,
    pub(crate) pair: Pair,
    /// `SO_COOKIE`; that of a subflow cannot be read from the socket of its connection.
    pub(crate) cookie: Option<u64>,
    /// Token of the connection that it is a subflow of, where it was told.
    pub(crate) token: Option<u32>,
    /// The kernel has destroyed it.
    pub(crate) destroyed: bool,
    pub(crate) info: &'a TcpInfo,
}

/// All readings of a socket in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) pair: Pair,
    pub(crate) cookie: Option<u64>,
    pub(crate) token: Option<u32>,
    /// Time of the first reading.
    pub(crate) first_ns: Nanos,
    /// Time of the last reading.
    pub(crate) last_ns: Nanos,
    /// Time at which the kernel destroyed it.
    pub(crate) end_ns: Option<Nanos>,
    /// Time of the last payload.
    pub(crate) last_received_ns: Option<Nanos>,
    /// Time of the last acknowledgement.
    pub(crate) last_acked_ns: Option<Nanos>,
    pub(crate) info: TcpInfo,
}

impl Account {
    pub(crate) fn new(reading: Reading<'_>) -> Self {
        let mut account = Self {
            pair: reading.pair,
            cookie: reading.cookie,
            token: None,
            first_ns: reading.t_ns,
            last_ns: reading.t_ns,
            end_ns: None,
            last_received_ns: None,
            last_acked_ns: None,
            info: TcpInfo::default(),
        };
        account.take(reading);
        account
    }

    /// Whether a reading of the same addresses is of another socket.
    pub(crate) fn is_before(&self, reading: &Reading<'_>) -> bool {
        match (self.cookie, reading.cookie) {
            (Some(own), Some(other)) => own != other,
            _ => self.end_ns.is_some() && (self.token.is_none() || self.token != reading.token),
        }
    }

    /// Adds a reading. Counters only grow: the kernel clears those of an initial subflow that it
    /// closes before the connection.
    pub(crate) fn take(&mut self, reading: Reading<'_>) {
        self.cookie = self.cookie.or(reading.cookie);
        self.token = self.token.or(reading.token);
        self.last_ns = self.last_ns.max(reading.t_ns);
        if reading.destroyed {
            self.end_ns = Some(reading.t_ns);
        }
        let info = reading.info;
        if bytes(info) < bytes(&self.info) {
            return;
        }
        let ago =
            |ms: Option<u32>| ms.map(|ms| reading.t_ns.saturating_sub(u64::from(ms) * 1_000_000));
        if info.bytes_received > Some(0) {
            self.last_received_ns = ago(info.last_data_received_ms);
        }
        if info.bytes_acked > Some(0) {
            self.last_acked_ns = ago(info.last_ack_received_ms);
        }
        let min_rtt_us = [self.info.min_rtt_us, info.min_rtt_us];
        self.info = info.clone();
        self.info.min_rtt_us = min_rtt_us.into_iter().flatten().min();
    }

    /// Whether it has sent something, be it its FIN, of which the peer has not acknowledged all.
    pub(crate) fn is_sending(&self) -> bool {
        let closing = ["FIN-WAIT-1", "CLOSING", "LAST-ACK"];
        let state = self.info.state.unwrap_or_default();
        self.info.unacked > Some(0) || closing.contains(&state)
    }
}

fn bytes(info: &TcpInfo) -> u64 {
    let counters = [info.bytes_sent, info.bytes_received, info.bytes_acked];
    counters.into_iter().flatten().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    fn info(received: u64, acked: u64) -> TcpInfo {
        TcpInfo {
            bytes_received: Some(received),
            bytes_acked: Some(acked),
            last_data_received_ms: Some(3),
            last_ack_received_ms: Some(1),
            min_rtt_us: Some(10 + received as u32),
            ..TcpInfo::default()
        }
    }

    fn reading(t_ns: Nanos, cookie: Option<u64>, destroyed: bool, info: &TcpInfo) -> Reading<'_> {
        let [local, remote] = ["10.0.1.2:40000", "10.0.9.2:5001"].map(|end| end.parse().unwrap());
        Reading {
            t_ns,
            pair: (local, remote),
            cookie,
            token: None,
            destroyed,
            info,
        }
    }

    #[test]
    fn counters_that_the_kernel_cleared_are_not_believed() {
        let (full, cleared) = (info(100, 50), info(0, 0));
        let mut account = Account::new(reading(10 * MS, None, false, &full));
        account.take(reading(20 * MS, Some(7), true, &cleared));
        assert_eq!(account.info.bytes_received, Some(100));
        assert_eq!(account.end_ns, Some(20 * MS));
        assert_eq!(account.last_received_ns, Some(7 * MS));
        assert_eq!(account.last_acked_ns, Some(9 * MS));
        assert_eq!(
            account.info.min_rtt_us,
            Some(110),
            "that of the cleared one is none"
        );
    }

    #[test]
    fn the_least_round_trip_of_all_readings_is_kept() {
        let mut account = Account::new(reading(10 * MS, None, false, &info(100, 50)));
        account.take(reading(20 * MS, None, false, &info(200, 50)));
        assert_eq!(account.info.bytes_received, Some(200));
        assert_eq!(account.info.min_rtt_us, Some(110));
    }

    #[test]
    fn a_late_reading_of_the_same_connection_is_of_the_same_socket() {
        let full = info(100, 50);
        let mut account = Account::new(Reading {
            token: Some(99),
            ..reading(1, None, false, &full)
        });
        account.end_ns = Some(2);
        let late = |token| Reading {
            token,
            ..reading(1, None, false, &full)
        };
        assert!(!account.is_before(&late(Some(99))));
        assert!(account.is_before(&late(Some(98))));
        assert!(account.is_before(&late(None)));
    }

    #[test]
    fn addresses_that_are_used_again_are_another_socket() {
        let full = info(100, 50);
        let mut account = Account::new(reading(1, Some(7), false, &full));
        assert!(!account.is_before(&reading(2, None, false, &full)));
        assert!(!account.is_before(&reading(2, Some(7), true, &full)));
        assert!(account.is_before(&reading(2, Some(8), false, &full)));
        account.take(reading(2, Some(7), true, &full));
        assert!(account.is_before(&reading(3, None, false, &full)));
    }
}

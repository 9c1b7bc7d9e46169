//! How long data waited to be sent or acknowledged, and what held it up.
//!
//! Source: `tcp_chrono_start`, `tcp_chrono_stop` in Linux 6.18, net/ipv4/tcp_output.c.

use super::Tcp;
use crate::Nanos;

/// Limits that hold up data that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// The congestion window, or the network.
    Network,
    /// The window of the peer.
    ReceiveWindow,
    /// The application waits for room in the send buffer, though the congestion window has some.
    SendBuffer,
}

/// Times for which data waited, those of the limit that holds up to a moment included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendingTimes {
    limit: Option<Limit>,
    since: Nanos,
    network_ns: Nanos,
    receive_window_ns: Nanos,
    send_buffer_ns: Nanos,
}

impl SendingTimes {
    /// Time in which data was not acknowledged or not sent, until `now` (`tcpi_busy_time`).
    pub fn busy_ns(&self, now: Nanos) -> Nanos {
        let times = self.until(now);
        times.network_ns + times.receive_window_ns + times.send_buffer_ns
    }

    /// The part of it in which the peer's window was too small (`tcpi_rwnd_limited`).
    pub fn receive_window_limited_ns(&self, now: Nanos) -> Nanos {
        self.until(now).receive_window_ns
    }

    /// The part of it in which the send buffer was too small (`tcpi_sndbuf_limited`).
    pub fn send_buffer_limited_ns(&self, now: Nanos) -> Nanos {
        self.until(now).send_buffer_ns
    }

    fn until(mut self, now: Nanos) -> Self {
        let passed = now.saturating_sub(self.since);
        match self.limit {
            None => {}
            Some(Limit::Network) => self.network_ns += passed,
            Some(Limit::ReceiveWindow) => self.receive_window_ns += passed,
            Some(Limit::SendBuffer) => self.send_buffer_ns += passed,
        }
        self.since = now;
        self
    }

    #[inline]
    fn switch(&mut self, now: Nanos, limit: Option<Limit>) {
        if self.limit != limit {
            *self = self.until(now);
            self.limit = limit;
        }
    }
}

impl Tcp {
    /// Notes what holds up data, where no more can leave now.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Nanos) {
        let limit = self.limit();
        self.times.switch(now, limit);
    }

    /// Notes after new data has left that the send buffer is what holds up more. It does until the
    /// application has room again.
    pub(super) fn note_send_buffer_limit(&mut self, now: Nanos) {
        if !self.snd.has_queued() {
            self.times.switch(now, Some(Limit::SendBuffer));
        }
    }

    fn limit(&self) -> Option<Limit> {
        let has_queued = self.snd.has_queued();
        if self.scoreboard.is_empty() && !has_queued {
            return None;
        }
        if self.times.limit == Some(Limit::SendBuffer) && self.is_awaited() {
            return self.times.limit;
        }
        let segment_bytes = self.congestion.segment_bytes();
        let has_window = self.flight_bytes() + segment_bytes <= self.congestion.window_bytes();
        let next_bytes = self.snd.next_bytes(segment_bytes);
        let is_closed =
            has_queued && has_window && self.snd.fit_window(next_bytes, self.due.silly).is_none();
        Some(if is_closed {
            Limit::ReceiveWindow
        } else {
            Limit::Network
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_all_limits_sum_to_the_time_that_was_busy() {
        let mut times = SendingTimes::default();
        times.switch(10, Some(Limit::Network));
        times.switch(15, Some(Limit::ReceiveWindow));
        times.switch(22, Some(Limit::SendBuffer));
        times.switch(33, None);
        times.switch(50, Some(Limit::Network));
        assert_eq!(times.receive_window_limited_ns(60), 7);
        assert_eq!(times.send_buffer_limited_ns(60), 11);
        assert_eq!(times.busy_ns(60), 5 + 7 + 11 + 10);
        assert_eq!(times.busy_ns(61), 5 + 7 + 11 + 11);
    }
}

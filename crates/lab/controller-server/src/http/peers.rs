//! All connections of peers.

use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustls::ServerConfig;

use super::config::HttpLimits;
use super::peer::Peer;
use crate::ready::timespec;
use crate::transport::Transport;

/// Connections, the oldest first.
#[derive(Debug)]
pub(super) struct Peers {
    limits: HttpLimits,
    tls: Option<Arc<ServerConfig>>,
    pub(super) all: VecDeque<Peer>,
}

/// The descriptors at which there is something to do.
#[derive(Debug, Default)]
pub(super) struct Ready {
    /// The controller's loop has ended.
    pub(super) is_over: bool,
    pub(super) has_connection: bool,
    /// Places of peers that have sent something, or have ended.
    pub(super) peers: Vec<usize>,
}

impl Peers {
    pub(super) fn new(limits: HttpLimits, tls: Option<Arc<ServerConfig>>) -> Self {
        let all = VecDeque::new();
        Self { limits, tls, all }
    }

    /// Takes a connection that has just been accepted; the oldest makes room.
    pub(super) fn add(&mut self, stream: TcpStream, now: Instant) -> io::Result<()> {
        let transport = Transport::new(stream, self.tls.as_ref())?;
        if self.all.len() >= self.limits.peers {
            self.all.pop_front();
        }
        self.all.push_back(Peer::new(transport, &self.limits, now));
        Ok(())
    }

    /// Closes connections that are not further in time.
    pub(super) fn end_late(&mut self, now: Instant) {
        self.all.retain(|peer| peer.until > now);
    }

    /// Waits until there is something to do, or a time is over.
    pub(super) fn wait(
        &self,
        end: BorrowedFd<'_>,
        listener: Option<BorrowedFd<'_>>,
        at_most: Option<Duration>,
        now: Instant,
    ) -> io::Result<Ready> {
        let mut fds = vec![PollFd::from_borrowed_fd(end, PollFlags::IN)];
        for peer in &self.all {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, peer.wants_read());
            flags.set(PollFlags::OUT, peer.wants_write());
            fds.push(PollFd::from_borrowed_fd(peer.as_fd(), flags));
        }
        fds.extend(listener.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let until = self.all.iter().map(|peer| peer.until).min();
        let until = until.map(|until| until.saturating_duration_since(now));
        let timeout = until.into_iter().chain(at_most).min();
        match poll(&mut fds, timeout.map(timespec).as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(error.into()),
        }
        let has_input = |fd: &PollFd<'_>| !(fd.revents() - PollFlags::OUT).is_empty();
        let (of_peers, rest) = fds[1..].split_at(self.all.len());
        let peers = of_peers.iter().enumerate();
        Ok(Ready {
            is_over: has_input(&fds[0]),
            has_connection: rest.iter().any(has_input),
            peers: peers
                .filter(|(_, fd)| has_input(fd))
                .map(|(place, _)| place)
                .collect(),
        })
    }
}

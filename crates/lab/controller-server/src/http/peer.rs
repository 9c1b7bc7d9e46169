//! A connection of a peer: its request, its answer, its end.

use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::config::HttpLimits;
use super::request::{self, Request};
use super::response::{Content, Status};
use crate::transport::Transport;

/// Time in which a peer is to close its end after it had its answer. Until then what it still sends
/// is read: an end that is closed before would take the answer from it.
const LINGER: Duration = Duration::from_secs(1);

/// The place that a connection is at.
#[derive(Debug)]
enum State {
    /// The request is coming.
    Asks(Vec<u8>),
    /// The answer is going: head and content, and the bytes of both that are taken.
    Gets([Answer; 2], usize),
    /// The answer has gone.
    Ends,
}

/// Bytes of an answer.
type Answer = std::sync::Arc<[u8]>;

/// A connection.
#[derive(Debug)]
pub(super) struct Peer {
    transport: Transport,
    state: State,
    /// The time by which it is to be further.
    pub(super) until: Instant,
}

impl Peer {
    pub(super) fn new(transport: Transport, limits: &HttpLimits, now: Instant) -> Self {
        Self {
            transport,
            state: State::Asks(Vec::new()),
            until: now + Duration::from_millis(limits.request_ms),
        }
    }

    fn stream(&self) -> &TcpStream {
        self.transport.stream()
    }

    /// Takes what has come. `Err`: the connection has ended. Otherwise its request, once.
    pub(super) fn receive(
        &mut self,
        buffer: &mut [u8],
        limits: &HttpLimits,
    ) -> Result<Option<Result<Request, Status>>, ()> {
        let mut bytes = Vec::new();
        let goes_on = self.transport.read(buffer, &mut bytes).map_err(drop)?;
        let parsed = match &mut self.state {
            State::Asks(so_far) => {
                so_far.append(&mut bytes);
                match request::parse(so_far) {
                    Ok(None) if so_far.len() >= limits.request_bytes => {
                        Some(Err(Status::RequestTooLarge))
                    }
                    parsed => parsed.transpose(),
                }
            }
            State::Gets(..) | State::Ends => None,
        };
        match (parsed, goes_on) {
            (None, false) => Err(()),
            (parsed, _) => Ok(parsed),
        }
    }

    /// Takes the answer.
    pub(super) fn answer(
        &mut self,
        head: Vec<u8>,
        content: Option<&Content>,
        limits: &HttpLimits,
        now: Instant,
    ) {
        let content = content.map(|content| content.bytes.clone());
        self.state = State::Gets([head.into(), content.unwrap_or_default()], 0);
        self.until = now + Duration::from_millis(limits.answer_ms);
    }

    /// Sends as much as the peer takes. `Err`: the connection has ended.
    pub(super) fn send(&mut self, now: Instant) -> Result<(), ()> {
        let State::Gets(parts, taken) = &mut self.state else {
            // A handshake may have something to send.
            return self.transport.write(&[]).map(drop).map_err(drop);
        };
        let mut before = 0;
        for part in parts.iter() {
            let left = part.get(taken.saturating_sub(before)..).unwrap_or_default();
            *taken += self.transport.write(left).map_err(drop)?;
            before += part.len();
            if *taken < before {
                return Ok(());
            }
        }
        if !self.transport.wants_write() {
            self.transport.close();
            self.stream().shutdown(Shutdown::Write).map_err(drop)?;
            self.state = State::Ends;
            self.until = now + LINGER;
        }
        Ok(())
    }

    /// Whether something waits until the peer takes more.
    pub(super) fn wants_write(&self) -> bool {
        self.transport.wants_write() || self.gets_answer()
    }

    /// Whether it is read from. While its answer goes, it is not: it may have closed its end.
    pub(super) fn wants_read(&self) -> bool {
        !self.gets_answer()
    }

    fn gets_answer(&self) -> bool {
        matches!(self.state, State::Gets(..))
    }
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream().as_fd()
    }
}

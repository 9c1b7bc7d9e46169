//! Messages over TLS, each way with a deadline: a peer that is slow on purpose gains no time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustls::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::Error;
use crate::frame::{Decoder, encode};
use crate::message::{from_bytes, to_bytes};

/// Time between two questions whether to wait on.
pub(crate) const SLICE: Duration = Duration::from_millis(200);

/// A control channel, at either end.
pub(crate) struct Channel {
    tls: Connection,
    stream: TcpStream,
    moved_bytes: u64,
    decoder: Decoder,
}

/// Limits of one call.
pub(crate) struct Limits<'a> {
    until: Instant,
    left_bytes: u64,
    goes_on: &'a mut dyn FnMut() -> bool,
}

/// Limits by which a call ends that could go on.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
enum Limit {
    #[error("stopped")]
    Stopped,
    #[error("the budget is used up")]
    Budget,
}

/// A socket within the limits of a call.
struct Limited<'a, 'b> {
    stream: &'a TcpStream,
    moved_bytes: &'a mut u64,
    limits: &'a mut Limits<'b>,
}

impl<'a> Limits<'a> {
    /// So much time, while `goes_on`, which is asked several times a second, says yes.
    pub(crate) fn new(within: Duration, goes_on: &'a mut dyn FnMut() -> bool) -> Self {
        Self {
            until: Instant::now() + within,
            left_bytes: u64::MAX,
            goes_on,
        }
    }

    /// The same with so many bytes at most, both ways, of TLS.
    pub(crate) fn at_most(self, bytes: u64) -> Self {
        Self {
            left_bytes: bytes,
            ..self
        }
    }
}

/// The caller's wish or its budget, where a call has ended for that.
pub(crate) fn own_limit(error: &io::Error) -> Option<Error> {
    match error.get_ref()?.downcast_ref()? {
        Limit::Stopped => Some(Error::Stopped),
        Limit::Budget => Some(Error::Budget),
    }
}

impl Channel {
    /// Makes the handshake of TLS.
    ///
    /// # Errors
    /// Those of the socket, and `InvalidData` where the peer is not the expected one.
    pub(crate) fn open(
        tls: Connection,
        stream: TcpStream,
        mut limits: Limits<'_>,
    ) -> io::Result<Self> {
        // All that is sent are whole messages.
        stream.set_nodelay(true)?;
        let mut channel = Self {
            tls,
            stream,
            moved_bytes: 0,
            decoder: Decoder::new(),
        };
        while channel.tls.is_handshaking() {
            let mut socket = Limited {
                stream: &channel.stream,
                moved_bytes: &mut channel.moved_bytes,
                limits: &mut limits,
            };
            channel.tls.complete_io(&mut socket)?;
        }
        Ok(channel)
    }

    /// Bytes that have gone over its socket, both ways.
    pub(crate) fn moved_bytes(&self) -> u64 {
        self.moved_bytes
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Those of the socket and of the limits.
    pub(crate) fn send(
        &mut self,
        message: &impl Serialize,
        mut limits: Limits<'_>,
    ) -> io::Result<()> {
        let bytes = encode(&to_bytes(message));
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            // As much as its buffer has room for.
            let count = self.tls.writer().write(rest)?;
            rest = &rest[count..];
            self.flush(&mut limits)?;
        }
        Ok(())
    }

    /// The peer's next message, of at most so many bytes, whose last byte comes in time.
    ///
    /// # Errors
    /// Those of the socket and of the limits, `UnexpectedEof` where the peer has closed it, and
    /// `InvalidData` for what is no message.
    pub(crate) fn receive<T: DeserializeOwned>(
        &mut self,
        longest_message: usize,
        mut limits: Limits<'_>,
    ) -> io::Result<T> {
        let invalid = |text: String| io::Error::new(ErrorKind::InvalidData, text);
        let mut piece = [0; 4096];
        loop {
            let message = self.decoder.next_message(longest_message);
            if let Some(message) = message.map_err(|error| invalid(error.to_string()))? {
                return from_bytes(&message).map_err(|error| invalid(error.to_string()));
            }
            match self.tls.reader().read(&mut piece) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.decoder.push(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.read_more(&mut limits)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn read_more(&mut self, limits: &mut Limits<'_>) -> io::Result<()> {
        let mut socket = Limited {
            stream: &self.stream,
            moved_bytes: &mut self.moved_bytes,
            limits,
        };
        if self.tls.read_tls(&mut socket)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let processed = self.tls.process_new_packets();
        // An alert tells the peer why.
        self.flush(limits)?;
        match processed {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    fn flush(&mut self, limits: &mut Limits<'_>) -> io::Result<()> {
        let mut socket = Limited {
            stream: &self.stream,
            moved_bytes: &mut self.moved_bytes,
            limits,
        };
        while self.tls.wants_write() {
            self.tls.write_tls(&mut socket)?;
        }
        Ok(())
    }
}

impl Limited<'_, '_> {
    /// Repeats a call on the socket until it succeeds or a limit is reached: it is made with the
    /// time that it may take, and the number of bytes.
    fn repeat(
        &mut self,
        mut call: impl FnMut(Duration, usize) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            let left = self.limits.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            if self.limits.left_bytes == 0 {
                return Err(io::Error::other(Limit::Budget));
            }
            if !(self.limits.goes_on)() {
                return Err(io::Error::other(Limit::Stopped));
            }
            let most = usize::try_from(self.limits.left_bytes).unwrap_or(usize::MAX);
            match call(left.min(SLICE), most) {
                Ok(count) => {
                    *self.moved_bytes += count as u64;
                    self.limits.left_bytes -= count as u64;
                    return Ok(count);
                }
                Err(error) if is_transient(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The call's time is over, or a signal came.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

impl Read for Limited<'_, '_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        self.repeat(|within, most| {
            stream.set_read_timeout(Some(within))?;
            let count = bytes.len().min(most);
            stream.read(&mut bytes[..count])
        })
    }
}

impl Write for Limited<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        self.repeat(|within, most| {
            stream.set_write_timeout(Some(within))?;
            stream.write(&bytes[..bytes.len().min(most)])
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;

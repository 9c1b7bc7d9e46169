//! Messages over TLS, each way with a deadline: a peer that is slow on purpose gains no time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustls::Connection;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frame::{Decoder, encode};
use crate::message::{from_bytes, to_bytes};

/// A control channel, at either end.
pub(crate) struct Channel {
    tls: Connection,
    socket: Limited,
    decoder: Decoder,
}

/// A socket whose calls together may last until a moment only.
struct Limited {
    stream: TcpStream,
    until: Instant,
    moved_bytes: u64,
}

impl Channel {
    /// Makes the handshake of TLS, in so much time.
    ///
    /// # Errors
    /// Those of the socket, and `InvalidData` where the peer is not the expected one.
    pub(crate) fn open(
        tls: Connection,
        stream: TcpStream,
        longest_message: usize,
        within: Duration,
    ) -> io::Result<Self> {
        // Whatever is sent is a whole message.
        stream.set_nodelay(true)?;
        let mut channel = Self {
            tls,
            socket: Limited {
                stream,
                until: Instant::now() + within,
                moved_bytes: 0,
            },
            decoder: Decoder::new(longest_message),
        };
        while channel.tls.is_handshaking() {
            channel.tls.complete_io(&mut channel.socket)?;
        }
        Ok(channel)
    }

    /// Bytes that have gone over its socket, both ways.
    pub(crate) fn moved_bytes(&self) -> u64 {
        self.socket.moved_bytes
    }

    /// Sends a message, in so much time.
    ///
    /// # Errors
    /// Those of the socket.
    pub(crate) fn send(&mut self, message: &impl Serialize, within: Duration) -> io::Result<()> {
        self.socket.until = Instant::now() + within;
        self.tls.writer().write_all(&encode(&to_bytes(message)))?;
        self.flush()
    }

    /// The peer's next message, whose last byte comes in so much time.
    ///
    /// # Errors
    /// Those of the socket, `UnexpectedEof` where the peer has closed it, and `InvalidData` for what
    /// is no message.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self, within: Duration) -> io::Result<T> {
        self.socket.until = Instant::now() + within;
        let invalid = |text: String| io::Error::new(ErrorKind::InvalidData, text);
        let mut piece = [0; 4096];
        loop {
            let message = self.decoder.next_message();
            if let Some(message) = message.map_err(|error| invalid(error.to_string()))? {
                return from_bytes(&message).map_err(|error| invalid(error.to_string()));
            }
            match self.tls.reader().read(&mut piece) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.decoder.push(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.read_more()?,
                Err(error) => return Err(error),
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        if self.tls.read_tls(&mut self.socket)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let processed = self.tls.process_new_packets();
        // An alert tells the peer why.
        self.flush()?;
        match processed {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.socket)?;
        }
        Ok(())
    }
}

impl Limited {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(ErrorKind::TimedOut.into()),
            false => Ok(Some(left)),
        }
    }

    fn moved(&mut self, count: io::Result<usize>) -> io::Result<usize> {
        match count {
            Ok(count) => {
                self.moved_bytes += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(ErrorKind::TimedOut.into()),
            Err(error) => Err(error),
        }
    }
}

impl Read for Limited {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        let count = self.stream.read(bytes);
        self.moved(count)
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        let count = self.stream.write(bytes);
        self.moved(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

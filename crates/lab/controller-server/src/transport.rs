//! Bytes of a connection: as they are, or by TLS.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

/// A connection of TCP that never waits, with TLS or without.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain(TcpStream),
    Tls(Box<ServerConnection>, TcpStream),
}

impl Transport {
    /// A transport over a connection that has just been accepted.
    pub(crate) fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(match tls {
            None => Self::Plain(stream),
            Some(config) => {
                let session =
                    ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                Self::Tls(Box::new(session), stream)
            }
        })
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) | Self::Tls(_, stream) => stream,
        }
    }

    /// Whether messages can go both ways: the peer has shown its certificate, where it must.
    pub(crate) fn is_open(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Tls(session, _) => !session.is_handshaking(),
        }
    }

    /// Whether bytes of TLS wait for room in the socket.
    pub(crate) fn wants_write(&self) -> bool {
        matches!(self, Self::Tls(session, _) if session.wants_write())
    }

    /// Reads once from the socket, and appends what there is to `into`. `false`: the peer has
    /// closed its end.
    pub(crate) fn read(&mut self, buffer: &mut [u8], into: &mut Vec<u8>) -> io::Result<bool> {
        match self {
            Self::Plain(stream) => match retried(|| stream.read(buffer))? {
                Some(0) => Ok(false),
                Some(count) => {
                    into.extend(&buffer[..count]);
                    Ok(true)
                }
                None => Ok(true),
            },
            Self::Tls(session, stream) => {
                if retried(|| session.read_tls(stream))? == Some(0) {
                    return Ok(false);
                }
                if let Err(error) = session.process_new_packets() {
                    // The alert that tells the peer why; where there is no room for it, it is lost.
                    let _ = session.write_tls(stream);
                    return Err(io::Error::other(error));
                }
                loop {
                    match retried(|| session.reader().read(buffer))? {
                        Some(0) => return Ok(false),
                        Some(count) => into.extend(&buffer[..count]),
                        None => return Ok(true),
                    }
                }
            }
        }
    }

    /// Writes as much as there is room for, and returns how many bytes it has taken.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => {
                let mut taken = 0;
                while taken < bytes.len()
                    && let Some(count) = retried(|| stream.write(&bytes[taken..]))?
                {
                    taken += count;
                }
                Ok(taken)
            }
            Self::Tls(session, stream) => {
                let mut taken = 0;
                loop {
                    while session.wants_write() {
                        if retried(|| session.write_tls(stream))?.is_none() {
                            return Ok(taken);
                        }
                    }
                    if taken == bytes.len() || session.is_handshaking() {
                        return Ok(taken);
                    }
                    taken += session.writer().write(&bytes[taken..])?;
                }
            }
        }
    }

    /// Tells the other end that no more comes; TCP does so by itself.
    pub(crate) fn close(&mut self) {
        if let Self::Tls(session, stream) = self {
            session.send_close_notify();
            let _ = session.write_tls(stream);
        }
    }
}

/// The result of a call; `None`: it would have to wait.
fn retried(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        return match call() {
            Ok(count) => Ok(Some(count)),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        };
    }
}

//! The client's side of the broker's protocol.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, UnixAddr, connect, recv, sendmsg,
    socket,
};

use crate::Error;
use crate::protocol::{Answer, Command, MESSAGE_BYTES, Message, Request, VERSION};
use crate::wait::{Interrupt, after, wait};

/// A session with a broker.
pub(crate) struct Client {
    path: PathBuf,
    socket: OwnedFd,
    last_id: u64,
    /// The broker rejected this session and is about to close it.
    is_refused: bool,
    /// Ends waiting, where it says so.
    pub(crate) interrupt: Option<Interrupt>,
}

impl Client {
    pub(crate) fn connect(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            path: path.to_owned(),
            socket: connected(path)?,
            last_id: 0,
            is_refused: false,
            interrupt: None,
        })
    }

    /// Sends a command and waits for the reply, at most so long.
    pub(crate) fn ask(
        &mut self,
        about: BorrowedFd<'_>,
        command: Command,
        timeout: Duration,
    ) -> Result<Answer, Error> {
        self.last_id += 1;
        let request = Request {
            version: VERSION,
            id: self.last_id,
            command,
        };
        self.send(about, &request)?;
        let deadline = after(timeout);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.receive(Some(left))? {
                None => return Err(self.gone("it does not answer")),
                Some(Message::Done { id, answer }) if id == self.last_id => return Ok(answer),
                Some(Message::Failed { id, error }) if id == self.last_id || id == 0 => {
                    self.is_refused = id == 0;
                    return Err(error);
                }
                // A late reply to an earlier request, which was given up.
                Some(_) => {}
            }
        }
    }

    /// Sends a request; once more where the broker was started anew since the last.
    fn send(&mut self, about: BorrowedFd<'_>, request: &Request) -> Result<(), Error> {
        let bytes = request.to_bytes();
        if self.is_refused {
            self.socket = connected(&self.path)?;
            self.is_refused = false;
        }
        let Err(error) = send(&self.socket, &bytes, about) else {
            return Ok(());
        };
        if let Some(rejection) = self.rejection() {
            return Err(rejection);
        }
        if !matches!(error, Errno::EPIPE | Errno::ECONNRESET | Errno::ENOTCONN) {
            return Err(self.gone(error.desc()));
        }
        self.socket = connected(&self.path)?;
        let sent = send(&self.socket, &bytes, about);
        sent.map_err(|error| {
            let rejection = self.rejection();
            rejection.unwrap_or_else(|| self.gone(error.desc()))
        })
    }

    /// Reads why the broker rejected the session, where it said so before it hung up.
    fn rejection(&self) -> Option<Error> {
        loop {
            match self.receive(Some(Duration::ZERO)) {
                Ok(Some(Message::Failed { id: 0, error })) => return Some(error),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Receives the next message; `None` when none came in this time (`None`: waits without limit).
    pub(crate) fn receive(&self, patience: Option<Duration>) -> Result<Option<Message>, Error> {
        if !wait(self.socket.as_fd(), patience, self.interrupt.as_ref())? {
            return Ok(None);
        }
        let mut bytes = [0; MESSAGE_BYTES];
        let mut receive = || recv(self.socket.as_raw_fd(), &mut bytes, MsgFlags::empty());
        let received = match receive() {
            // It hung up without reading the last request; its own messages follow this error.
            Err(Errno::ECONNRESET) => receive(),
            other => other,
        };
        match received {
            Ok(0) => Err(self.gone("it went away; what it was doing may be done or not")),
            Ok(length) => Message::parse(&bytes[..length]).map(Some),
            Err(error) => Err(self.gone(error.desc())),
        }
    }

    fn gone(&self, reason: &str) -> Error {
        no_broker(&self.path, reason)
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn connected(path: &Path) -> Result<OwnedFd, Error> {
    let open = || {
        let family = AddressFamily::Unix;
        let socket = socket(family, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
        Ok(socket)
    };
    open().map_err(|error: Errno| no_broker(path, error.desc()))
}

fn send(socket: &OwnedFd, bytes: &[u8], about: BorrowedFd<'_>) -> Result<(), Errno> {
    let descriptors = [about.as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let content = [IoSlice::new(bytes)];
    loop {
        let flags = MsgFlags::MSG_NOSIGNAL;
        match sendmsg::<UnixAddr>(socket.as_raw_fd(), &content, &rights, flags, None) {
            Err(Errno::EINTR) => {}
            other => return other.map(drop),
        }
    }
}

fn no_broker(path: &Path, reason: &str) -> Error {
    Error::NoBroker {
        path: path.display().to_string(),
        reason: reason.to_owned(),
    }
}

//! The socket at which the broker listens.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, unlinkat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect,
    getsockname, listen, socket_with, sockopt,
};

use crate::{Config, StartError};

/// The most clients that wait to be accepted.
const BACKLOG: i32 = 512;
/// Size of a session's send buffer.
const SEND_BYTES: usize = 16 * 1024;
/// The first descriptor that systemd passes (sd_listen_fds(3)).
const FIRST_PASSED: i32 = 3;

/// A listening socket, and its file where the broker made it.
pub(crate) struct Listener {
    socket: OwnedFd,
    /// Absolute.
    file: Option<PathBuf>,
}

impl Listener {
    /// Takes the socket that systemd passed, or makes one.
    pub(crate) fn open(config: &Config) -> Result<Self, StartError> {
        match passed()? {
            Some(socket) => Ok(Self { socket, file: None }),
            None => Self::bind(config),
        }
    }

    fn bind(config: &Config) -> Result<Self, StartError> {
        let path = &*config.socket;
        let failed = |doing: &str, error: io::Error| {
            StartError::system(format!("{doing} {}", path.display()), error)
        };
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !folder.exists() {
            // It stays root's: another owner could replace the socket.
            fs::create_dir(folder).map_err(|error| failed("making the folder of", error))?;
        }
        let absolute = std::path::absolute(path).map_err(|error| failed("finding", error))?;
        remove_stale(path)?;
        let bound = || {
            let socket = seqpacket()?;
            bind(&socket, &SocketAddrUnix::new(path)?)?;
            Ok(socket)
        };
        let socket = bound().map_err(|error: Errno| failed("binding to", error.into()))?;
        let listener = Self {
            socket,
            file: Some(absolute),
        };
        // Before it listens, so that no client connects earlier.
        fs::set_permissions(path, fs::Permissions::from_mode(config.mode))
            .map_err(|error| failed("setting the permissions of", error))?;
        listen(&listener.socket, BACKLOG).map_err(|error| failed("listening at", error.into()))?;
        Ok(listener)
    }

    /// Accepts the next client; `None` when there is none now.
    ///
    /// # Errors
    /// Where there is no descriptor left.
    pub(crate) fn accept(&self) -> io::Result<Option<OwnedFd>> {
        match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(session) => {
                // With the kernel's default, few clients that do not read take much memory.
                let _ = sockopt::set_socket_send_buffer_size(&session, SEND_BYTES);
                Ok(Some(session))
            }
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Path of the socket's file, where it has one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.file.clone().or_else(|| {
            let address = SocketAddrUnix::try_from(getsockname(&self.socket).ok()?).ok()?;
            Some(OsStr::from_bytes(address.path_bytes()?).into())
        })
    }

    /// The folder in which the broker made the socket's file.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.file.as_deref().and_then(Path::parent)
    }

    /// Removes the socket's file, where the broker made it.
    pub(crate) fn remove_file(&self) -> io::Result<()> {
        match &self.file {
            None => Ok(()),
            // Not unlink(2), which a confined broker may not call.
            Some(file) => Ok(unlinkat(CWD, file, AtFlags::empty())?),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn seqpacket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// Removes the socket's file of a broker that has ended.
fn remove_stale(path: &Path) -> Result<(), StartError> {
    let failed =
        |error: io::Error| StartError::system(format!("looking at {}", path.display()), error);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(StartError::NoSocket(path.to_owned()));
        }
        Ok(_) => {}
    }
    let answer = seqpacket().and_then(|socket| connect(&socket, &SocketAddrUnix::new(path)?));
    match answer {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(failed),
        Err(Errno::PROTOTYPE) => Err(StartError::NoSocket(path.to_owned())),
        // A full backlog belongs to a running broker, too.
        Ok(()) | Err(Errno::AGAIN) => Err(StartError::Running(path.to_owned())),
        Err(error) => Err(failed(error.into())),
    }
}

/// Takes the socket that systemd passed to this process.
fn passed() -> Result<Option<OwnedFd>, StartError> {
    let number = |name| {
        env::var(name)
            .ok()
            .and_then(|value| value.parse::<u32>().ok())
    };
    if number("LISTEN_PID") != Some(std::process::id()) {
        return Ok(None);
    }
    match number("LISTEN_FDS") {
        Some(1) => {}
        count => {
            let count = count.unwrap_or(0);
            return Err(StartError::Passed(format!("{count} sockets")));
        }
    }
    // SAFETY: systemd says that the descriptor is this process's, and no other code takes it.
    let socket = unsafe { OwnedFd::from_raw_fd(FIRST_PASSED) };
    let is_right = sockopt::socket_type(&socket) == Ok(SocketType::SEQPACKET)
        && sockopt::socket_acceptconn(&socket) == Ok(true)
        && sockopt::socket_domain(&socket) == Ok(AddressFamily::UNIX);
    if !is_right {
        return Err(StartError::Passed("another kind of socket".to_owned()));
    }
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)
        .and_then(|()| rustix::io::ioctl_fionbio(&socket, true))
        .map_err(|error| StartError::system("taking the socket that systemd passed", error))?;
    Ok(Some(socket))
}

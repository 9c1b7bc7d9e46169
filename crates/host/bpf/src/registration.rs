//! Congestion controls registered with the kernel: for all of the machine, by their names.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::control::Control;
use crate::kernel::{self, BPF_F_LINK};
use crate::object::Loaded;
use crate::{Error, kernel::Operations};

/// Keeps a congestion control registered; it stays so as long as any process has one for it.
///
/// The kernel unregisters it when the last descriptor is closed, however its process ends. Sockets
/// that have it keep it.
#[derive(Debug)]
pub struct Registration {
    _link: Option<OwnedFd>,
}

/// Whether a congestion control can be had here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No.
    Absent,
    /// Until [`Control::unload`].
    Loaded,
    /// As long as a [`Registration`] of some process lives.
    Held,
    /// The kernel has one of this name that another program has loaded. Without privileges the loader
    /// of an algorithm is unknown, and every one counts as such.
    Present,
}

/// How often it may change between two looks before the first one is believed.
const ATTEMPTS: u32 = 4;

impl Control {
    /// Has it registered as long as the result lives: it is shared with other processes that do
    /// so at the same time, and taken as it is where it was loaded to stay, or is the kernel's own.
    ///
    /// # Errors
    /// Where it cannot be loaded; each says what to do.
    pub fn hold(self) -> Result<Registration, Error> {
        for _ in 0..ATTEMPTS {
            match self.state()? {
                State::Loaded | State::Present => return Ok(Registration { _link: None }),
                State::Held => {
                    if let Some(link) = kernel::link(self.map())? {
                        return Ok(Registration { _link: Some(link) });
                    }
                }
                State::Absent => match self.register(true) {
                    Err(error) if is_taken(&error) => {}
                    Err(error) if is_unknown(&error) => return Err(Error::NoLinks(self.name())),
                    result => return result.map(|link| Registration { _link: link }),
                },
            }
        }
        Err(Error::LoadedByRun(self.name()))
    }

    /// Registers it until [`unload`](Self::unload), or until the machine stops.
    ///
    /// # Errors
    /// Where it is registered already, or cannot be loaded.
    pub fn load(self) -> Result<(), Error> {
        match self.state()? {
            State::Absent => match self.register(false) {
                Err(error) if is_taken(&error) => Err(Error::Loaded(self.name())),
                result => result.map(drop),
            },
            State::Loaded => Err(Error::Loaded(self.name())),
            State::Held => Err(Error::LoadedByRun(self.name())),
            State::Present => Err(Error::Present(self.name())),
        }
    }

    /// Undoes [`load`](Self::load). Sockets that have it keep it.
    ///
    /// # Errors
    /// Where it was not loaded.
    pub fn unload(self) -> Result<(), Error> {
        if let Some(map) = self.loaded()? {
            return map.unregister();
        }
        Err(match self.state()? {
            State::Held => Error::LoadedByRun(self.name()),
            State::Present => Error::Present(self.name()),
            State::Absent | State::Loaded => Error::NotLoaded(self.name()),
        })
    }

    /// Whether it can be had, and for how long.
    ///
    /// # Errors
    /// Where the kernel gives no socket.
    pub fn state(self) -> Result<State, Error> {
        // Between two questions it may go, and another process may register it anew.
        for _ in 0..ATTEMPTS {
            if !is_accepted(self.name())? {
                return Ok(State::Absent);
            }
            match self.registered() {
                Ok(State::Present) => {}
                Err(Error::NotPermitted | Error::NoLibrary(_) | Error::StaticProgram(_)) => break,
                result => return result,
            }
        }
        Ok(State::Present)
    }

    fn registered(self) -> Result<State, Error> {
        Ok(if kernel::link(self.map())?.is_some() {
            State::Held
        } else if self.loaded()?.is_some() {
            State::Loaded
        } else {
            State::Present
        })
    }

    /// The map that was loaded to stay.
    fn loaded(self) -> Result<Option<Operations>, Error> {
        for map in kernel::operations(self.map())? {
            if !map.is_linked && map.is_registered()? {
                return Ok(Some(map));
            }
        }
        Ok(None)
    }

    fn register(self, is_linked: bool) -> Result<Option<OwnedFd>, Error> {
        let flags = is_linked.then_some((self.map(), BPF_F_LINK));
        let object = Loaded::load(self.object(), self.name(), flags)?;
        object.register(self.map(), is_linked)
    }
}

/// Whether the kernel knows a congestion control by name: no privilege is needed to ask, in any
/// namespace.
pub(crate) fn is_accepted(name: &str) -> Result<bool, Error> {
    let failed = |error| Error::refused("a socket", error, "");
    // SAFETY: plain system call; the descriptor is ours.
    let socket = unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(failed(io::Error::last_os_error()));
        }
        OwnedFd::from_raw_fd(socket)
    };
    // SAFETY: the name is as long as it says.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    // EPERM: the kernel has it, but reserves it.
    Ok(status == 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOENT))
}

/// The kernel has one of this name.
pub(crate) fn is_taken(error: &Error) -> bool {
    matches!(error, Error::Refused { error, .. } if error.raw_os_error() == Some(libc::EEXIST))
}

/// The kernel does not know what it was asked for, and it is not the verifier that says so.
fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::Refused { error, log, .. }
        if error.raw_os_error() == Some(libc::EINVAL) && log.is_empty())
}

#[cfg(test)]
mod tests;

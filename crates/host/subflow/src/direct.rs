//! Commands given to the kernel by this process itself.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mptcplab_linux::event::Events;
use mptcplab_linux::netns::NetNs;

use crate::options::Options;
use crate::own::Connection;
use crate::path_manager::{Open, Opening, PathManagerClient};
use crate::wait::{after, wait};
use crate::watch::Watch;
use crate::{Error, Interrupt};

/// Held while a SYN is sent: two from one address at the same time could not be told apart.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Gives commands in the network namespace in which it was made.
pub(crate) struct Direct {
    pub(crate) path_manager: PathManagerClient,
    /// Without a subscriber the kernel resets each subflow that is opened by command.
    events: Events,
    /// Loaded when first needed: it wants more privilege than the rest.
    options: Option<Options>,
    namespace: NetNs,
}

impl Direct {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self {
            path_manager: PathManagerClient::new()?,
            events: subscribe()?,
            options: None,
            namespace: NetNs::current()
                .map_err(|error| Error::kernel("open the namespace", &error))?,
        })
    }

    pub(crate) fn events(
        &self,
        socket: BorrowedFd<'_>,
        interrupt: Option<Interrupt>,
    ) -> Result<Watch, Error> {
        // Subscribed first: nothing is missed after the look at the connection.
        let subscribed = self.namespace.within(subscribe);
        let events = subscribed.map_err(|_| Error::ForeignNamespace)??;
        let connection = self.path_manager.connection(socket)?;
        Ok(Watch::direct(socket, &connection, events, interrupt))
    }

    pub(crate) fn getsockopt(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
        level: i32,
        option: i32,
        length: usize,
    ) -> Result<Vec<u8>, Error> {
        self.with_options(socket, |options, connection| {
            options.get(connection, id, level, option, length)
        })
    }

    pub(crate) fn setsockopt(
        &mut self,
        socket: BorrowedFd<'_>,
        id: u32,
        level: i32,
        option: i32,
        value: &[u8],
    ) -> Result<(), Error> {
        self.with_options(socket, |options, connection| {
            options.set(connection, id, level, option, value)
        })
    }

    fn with_options<T: Send>(
        &mut self,
        socket: BorrowedFd<'_>,
        work: impl FnOnce(&mut Options, &Connection) -> Result<T, Error> + Send,
    ) -> Result<T, Error> {
        let connection = self.path_manager.connection(socket)?;
        let options = match &mut self.options {
            Some(options) => options,
            none => none.insert(Options::load()?),
        };
        // BPF reaches the sockets of the calling thread's namespace.
        let done = self.namespace.within(|| work(options, &connection));
        done.map_err(|_| Error::ForeignNamespace)?
    }

    pub(crate) fn open_subflow(
        &mut self,
        socket: BorrowedFd<'_>,
        open: &Open,
        interrupt: Option<&Interrupt>,
    ) -> Result<u32, Error> {
        // Earlier events concern no opening; lost ones are made up for below.
        let _ = self.events.read(|_| {});
        let deadline = after(open.timeout);
        let opening = self.begin(socket, open, deadline, interrupt)?;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let waited = wait(self.events.as_fd(), Some(left), interrupt).and_then(|there_is| {
                let timeout_ms = open.timeout.as_millis() as u64;
                there_is.then_some(()).ok_or(Error::TimedOut { timeout_ms })
            });
            if let Err(error) = waited {
                // Of a subflow that ends while the connection closes there is no event.
                let ended = opening.result(socket);
                self.path_manager.abandon(&opening);
                return ended.unwrap_or(Err(error));
            }
            let mut decided = None;
            let read = self.events.read(|event| {
                decided = decided.take().or_else(|| opening.decide(&event));
            });
            if read.is_err() {
                decided = decided.or_else(|| opening.result(socket));
            }
            if let Some(decided) = decided {
                return decided;
            }
        }
    }

    /// Sends the SYN as soon as the connection is established.
    fn begin(
        &mut self,
        socket: BorrowedFd<'_>,
        open: &Open,
        deadline: Instant,
        interrupt: Option<&Interrupt>,
    ) -> Result<Opening, Error> {
        loop {
            let begun = {
                let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
                self.path_manager.open_subflow(socket, open)
            };
            match begun {
                Err(Error::NotEstablished) => {}
                other => return other,
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if !wait(self.events.as_fd(), Some(left), interrupt)? {
                return Err(Error::NotEstablished);
            }
            let _ = self.events.read(|_| {});
        }
    }
}

fn subscribe() -> Result<Events, Error> {
    Events::open().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NoMptcp,
        io::ErrorKind::PermissionDenied => Error::NotPrivileged,
        _ => Error::kernel("subscribe to the path manager's events", &error),
    })
}

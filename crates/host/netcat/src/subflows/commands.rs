//! Commands about the subflows of the connection; one that waits for the peer has a thread of its own.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

use mptcplab_subflow::{Error, Interrupt, Managers, Open, Watch};

use super::locals::Local;
use super::path::PathState;
use crate::stream::Stream;

/// Timeout of the peer's answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Result of opening a subflow.
pub(super) struct Done {
    /// Number of its path.
    pub(super) path: usize,
    /// Address that it was opened from.
    pub(super) address: IpAddr,
    pub(super) result: Result<u32, Error>,
}

/// Gives the commands.
pub(super) struct Commands<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    stream: &'env Stream,
    managers: &'env Managers,
    done: Sender<Done>,
    results: Receiver<Done>,
    /// Readable when a result waits.
    woken: UnixStream,
    waker: Arc<UnixStream>,
    interrupt: Interrupt,
}

impl<'scope, 'env> Commands<'scope, 'env> {
    /// Subflows that are being opened are given up once `ending` is true.
    ///
    /// # Errors
    /// When there is no descriptor left.
    pub(super) fn new(
        scope: &'scope Scope<'scope, 'env>,
        stream: &'env Stream,
        managers: &'env Managers,
        ending: Arc<AtomicBool>,
    ) -> std::io::Result<Self> {
        let (done, results) = channel();
        let (woken, waker) = UnixStream::pair()?;
        Ok(Self {
            scope,
            stream,
            managers,
            done,
            results,
            woken,
            waker: Arc::new(waker),
            interrupt: Arc::new(move || ending.load(Ordering::Relaxed)),
        })
    }

    /// Watches the connection's events.
    pub(super) fn watch(&self) -> Result<Watch, Error> {
        self.managers
            .run(None, |manager| manager.events(self.stream))
    }

    /// Begins to open a subflow over a path that has the address `local` now.
    pub(super) fn open(&self, number: usize, path: &PathState, local: &Local) {
        let address = local.address;
        let open = Open {
            backup: path.wanted.backup,
            interface: path.is_interface().then(|| local.interface.clone()),
            timeout: TIMEOUT,
            ..Open::from(SocketAddr::new(address, 0))
        };
        let (stream, managers) = (self.stream, self.managers);
        let (done, waker) = (self.done.clone(), Arc::clone(&self.waker));
        let interrupt = Arc::clone(&self.interrupt);
        self.scope.spawn(move || {
            let result = managers.run(Some(interrupt), |manager| {
                manager.open_subflow(stream, &open)
            });
            // The receiver is gone where the connection has ended.
            let _ = done.send(Done {
                path: number,
                address,
                result,
            });
            // A full buffer wakes as well.
            let _ = (&*waker).write(b".");
        });
    }

    /// Takes the next result.
    pub(super) fn next_result(&self) -> Option<Done> {
        self.results.try_recv().ok()
    }

    /// Makes [`Commands::as_fd`] unreadable until the next result.
    pub(super) fn clear_wake(&self) {
        let _ = (&self.woken).read(&mut [0; 64]);
    }

    /// Closes a subflow; also succeeds where it has closed already.
    pub(super) fn close(&self, id: u32) -> Result<(), Error> {
        let (stream, managers) = (self.stream, self.managers);
        match managers.run(None, |manager| manager.close_subflow(stream, id)) {
            Err(Error::NoSuchSubflow { .. }) => Ok(()),
            closed => closed,
        }
    }

    /// Makes a subflow a backup.
    pub(super) fn make_backup(&self, id: u32) -> Result<(), Error> {
        let (stream, managers) = (self.stream, self.managers);
        managers.run(None, |manager| manager.set_backup(stream, id, true))
    }
}

impl AsFd for Commands<'_, '_> {
    /// Readable when a result waits.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

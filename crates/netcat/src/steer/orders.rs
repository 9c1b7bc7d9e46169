//! Orders about the subflows of the connection; one that waits for the peer has a thread of its own.

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
use super::path::Way;
use crate::stream::Stream;

/// How long a peer may take to let a subflow join.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the opening of a subflow ended.
pub(super) struct Done {
    /// Number of its path.
    pub(super) way: usize,
    /// Address that it was opened from.
    pub(super) address: IpAddr,
    pub(super) result: Result<u32, Error>,
}

/// Gives them.
pub(super) struct Orders<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    stream: &'env Stream,
    managers: &'env Managers,
    done: Sender<Done>,
    results: Receiver<Done>,
    /// Where threads say that a result waits.
    woken: UnixStream,
    waker: Arc<UnixStream>,
    interrupt: Interrupt,
}

impl<'scope, 'env> Orders<'scope, 'env> {
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

    /// What the kernel or the broker tell of the connection.
    pub(super) fn watch(&self) -> Result<Watch, Error> {
        self.managers
            .order(None, |manager| manager.events(self.stream))
    }

    /// Begins to open a subflow over a path that has the address `local` now.
    pub(super) fn open(&self, number: usize, way: &Way, local: &Local) {
        let address = local.address;
        let order = Open {
            backup: way.path.backup,
            interface: way.is_interface().then(|| local.interface.clone()),
            timeout: PATIENCE,
            ..Open::from(SocketAddr::new(address, 0))
        };
        let (stream, managers) = (self.stream, self.managers);
        let (done, waker) = (self.done.clone(), Arc::clone(&self.waker));
        let interrupt = Arc::clone(&self.interrupt);
        self.scope.spawn(move || {
            let result = managers.order(Some(interrupt), |manager| {
                manager.open_subflow(stream, &order)
            });
            // Where nobody waits for it any more, the connection has ended.
            let _ = done.send(Done {
                way: number,
                address,
                result,
            });
            // A full buffer wakes as well.
            let _ = (&*waker).write(b".");
        });
    }

    /// The next subflow whose opening has ended.
    pub(super) fn ended(&self) -> Option<Done> {
        self.results.try_recv().ok()
    }

    /// Takes the notice by which [`Orders::as_fd`] became readable.
    pub(super) fn awake(&self) {
        let _ = (&self.woken).read(&mut [0; 64]);
    }

    /// Closes a subflow; well also where it has gone already.
    pub(super) fn close(&self, id: u32) -> Result<(), Error> {
        let (stream, managers) = (self.stream, self.managers);
        match managers.order(None, |manager| manager.close_subflow(stream, id)) {
            Err(Error::NoSuchSubflow { .. }) => Ok(()),
            closed => closed,
        }
    }

    /// Makes a subflow a backup.
    pub(super) fn make_backup(&self, id: u32) -> Result<(), Error> {
        let (stream, managers) = (self.stream, self.managers);
        managers.order(None, |manager| manager.set_backup(stream, id, true))
    }
}

impl AsFd for Orders<'_, '_> {
    /// Readable when the opening of a subflow has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

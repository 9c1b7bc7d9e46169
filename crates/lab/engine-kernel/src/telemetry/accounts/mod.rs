//! The kernel's accounts of the TCP sockets of programs: of a node's sockets, subflows included,
//! which flow each belongs to, and what it had carried when the kernel destroyed it.
//!
//! Readings come from the dumps of the sampler, from sockets that a program is about to close, and
//! from the kernel as it destroys a socket ([`Destroyed`]), which also tells of those that lived
//! for less than a sample.

mod account;
mod book;

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use mptcplab_link::Nanos;
use mptcplab_linux::destroyed::Destroyed;
use mptcplab_linux::dump::Dumper;
use mptcplab_linux::sock_diag::{self, TcpSocket};
use nix::poll::PollFlags;

pub(crate) use self::account::{Account, Pair, Reading};
use self::book::Book;
pub(crate) use self::book::Owner;
use super::NodeContext;
use super::rows::subflow_sample;
use crate::record::Recorder;
use crate::traffic::{Stop, Wake, wait};
use mptcplab_linux::sock_diag::SubflowIdentity;

/// The accounts of a node. Cheap to clone; empty until they are kept ([`Accounts::keep`]).
#[derive(Clone, Default)]
pub(crate) struct Accounts(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    book: Book,
    kernel: Option<Kernel>,
}

/// The sockets through which the kernel is asked.
struct Kernel {
    destroyed: Destroyed,
    dumper: Dumper,
    /// Accounts were lost, and that has been said.
    lost: bool,
}

/// The result of a look at the open sockets.
pub(crate) struct Look {
    t_ns: Nanos,
    /// Connections of MPTCP, by token, of which data is not acknowledged.
    sending: HashSet<u32>,
}

impl Look {
    /// Whether the socket lived.
    pub(crate) fn has(&self, account: &Account) -> bool {
        account.end_ns.is_none() && account.last_ns >= self.t_ns
    }

    /// Whether the socket lived, and has sent something that the peer has not acknowledged.
    pub(crate) fn is_sending(&self, account: &Account) -> bool {
        let connection_is = account
            .token
            .is_some_and(|token| self.sending.contains(&token));
        self.has(account) && (connection_is || account.is_sending())
    }
}

/// A thread that reads accounts as they come, until it is dropped.
pub(crate) struct Keeper {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.request("the traffic has ended");
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Accounts {
    /// Keeps the accounts of `node` from now on. `None` where they are kept already.
    ///
    /// # Errors
    /// When the kernel gives no netlink socket, or there are no threads or descriptors left.
    pub(crate) fn keep(node: &NodeContext, recorder: &Recorder) -> io::Result<Option<Keeper>> {
        if node.accounts.lock().kernel.is_some() {
            return Ok(None);
        }
        let (destroyed, dumper) = node.netns.run(|| {
            io::Result::Ok((Destroyed::open()?, Dumper::open(libc::NETLINK_SOCK_DIAG)?))
        })??;
        let arrivals = destroyed.as_fd().try_clone_to_owned()?;
        node.accounts.lock().kernel = Some(Kernel {
            destroyed,
            dumper,
            lost: false,
        });
        let stop = Stop::new()?;
        let (node, recorder, stopped) = (node.clone(), recorder.clone(), stop.clone());
        let thread = thread::Builder::new()
            .name(format!("accounts {}", node.name))
            .spawn(move || {
                let readable = Some((arrivals.as_fd(), PollFlags::POLLIN));
                while matches!(wait(readable, &[&stopped], None), Ok(Wake::Ready)) {
                    node.accounts.read_destroyed(&node, &recorder);
                }
            })?;
        Ok(Some(Keeper {
            stop,
            thread: Some(thread),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks something up in the accounts, or notes something.
    pub(crate) fn book<T>(&self, work: impl FnOnce(&mut Book) -> T) -> T {
        work(&mut self.lock().book)
    }

    /// Adds a reading, if accounts are kept.
    pub(crate) fn take(&self, reading: Reading<'_>) {
        let mut inner = self.lock();
        if inner.kernel.is_some() {
            inner.book.take(reading);
        }
    }

    /// Adds what a dump says of a socket, if accounts are kept.
    pub(crate) fn take_socket(&self, t_ns: Nanos, socket: &TcpSocket) {
        self.take(reading(t_ns, socket, false));
    }

    /// Adds what a dump says of a connection of MPTCP.
    pub(crate) fn take_connection(&self, token: Option<u32>, cookie: u64) {
        if let Some(token) = token {
            self.book(|book| book.connection(token, cookie));
        }
    }

    /// Reads what the kernel has destroyed, and writes a last sample of each.
    fn read_destroyed(&self, node: &NodeContext, recorder: &Recorder) {
        let Inner { book, kernel } = &mut *self.lock();
        let Some(kernel) = kernel else { return };
        let t_ns = recorder.now();
        let read = kernel.destroyed.read(|socket| {
            book.take(reading(t_ns, &socket, true));
            if socket.remote.port() == 0 {
                return;
            }
            let pair = (socket.local, socket.remote);
            let identity = SubflowIdentity {
                token: book.token(pair),
                ..SubflowIdentity::default()
            };
            let row = subflow_sample(
                (t_ns, true),
                node,
                pair,
                identity,
                None,
                (&socket.info, socket.memory),
            );
            // Without a reader the run is about to end by its closed standard input.
            let _ = recorder.write(row);
        });
        if let (Err(error), false) = (read, kernel.lost) {
            kernel.lost = true;
            let node = &node.name;
            recorder.warn(&format!(
                "the last accounts of some sockets of {node} were lost: {error}"
            ));
        }
    }

    /// Reads every socket that lives, and what has been destroyed.
    pub(crate) fn look(&self, node: &NodeContext, recorder: &Recorder) -> Look {
        let mut look = Look {
            t_ns: recorder.now(),
            sending: HashSet::new(),
        };
        if let Inner {
            book,
            kernel: Some(kernel),
        } = &mut *self.lock()
        {
            // Where the kernel refuses a list, the sampler says so.
            let _ = sock_diag::tcp_sockets(&mut kernel.dumper, |socket| {
                book.take(reading(look.t_ns, &socket, false));
            });
            let _ = sock_diag::mptcp_sockets_by_cookie(&mut kernel.dumper, |cookie, info, _| {
                if let Some(token) = info.token {
                    book.connection(token, cookie);
                    if info.write_seq != info.snd_una {
                        look.sending.insert(token);
                    }
                }
            });
        }
        self.read_destroyed(node, recorder);
        look
    }
}

fn reading(t_ns: Nanos, socket: &TcpSocket, destroyed: bool) -> Reading<'_> {
    Reading {
        t_ns,
        pair: (socket.local, socket.remote),
        cookie: Some(socket.cookie),
        token: socket.mptcp.and_then(|identity| identity.token),
        destroyed,
        info: &socket.info,
    }
}

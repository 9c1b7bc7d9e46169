//! Unnamed network namespaces, held by file descriptors and gone with the last of them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::fstat;

/// The folder of namespaces that have a name (ip-netns(8)).
const NAMED: &str = "/run/netns";

/// A network namespace that lives as long as a handle to it, or a thread or socket inside it.
#[derive(Clone, Debug)]
pub struct NetNs(Arc<OwnedFd>);

impl NetNs {
    /// A new, empty namespace; the calling thread stays where it is.
    ///
    /// # Errors
    /// Where the kernel refuses: no privilege over the user namespace, or a limit reached.
    pub fn create() -> io::Result<Self> {
        on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Self::current()
        })?
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// When `/proc` is not mounted.
    pub fn current() -> io::Result<Self> {
        Ok(Self(Arc::new(
            File::open("/proc/thread-self/ns/net")?.into(),
        )))
    }

    /// The namespace of a name, as `ip netns` lists them.
    ///
    /// # Errors
    /// `NotFound` where there is none, and `InvalidInput` for what is no name.
    pub fn named(name: &str) -> io::Result<Self> {
        let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        if !is_name {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let file = File::open(Path::new(NAMED).join(name))?;
        Ok(Self::from(OwnedFd::from(file)))
    }

    /// Both handles are to one namespace.
    pub fn is_same(&self, other: &Self) -> bool {
        let id = |netns: &Self| fstat(netns).map(|stat| (stat.st_dev, stat.st_ino));
        id(self).is_ok_and(|id_of_self| id(other) == Ok(id_of_self))
    }

    /// Moves the calling thread into the namespace, for good.
    ///
    /// # Errors
    /// Without privilege over the namespace.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(self.as_fd(), CloneFlags::CLONE_NEWNET)?)
    }

    /// Runs `work` inside the namespace, on a thread of its own, and waits for it.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    ///
    /// # Panics
    /// When `work` does.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        on_thread(|| {
            self.enter()?;
            Ok(work())
        })?
    }

    /// Runs `work` inside the namespace: at once where the calling thread is in it, else as
    /// [`Self::run`], which needs privilege.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    ///
    /// # Panics
    /// When `work` does.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        match Self::current() {
            Ok(current) if current.is_same(self) => Ok(work()),
            _ => self.run(work),
        }
    }
}

impl From<OwnedFd> for NetNs {
    /// The namespace that the descriptor stands for.
    fn from(descriptor: OwnedFd) -> Self {
        Self(Arc::new(descriptor))
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Runs `work` on a thread of its own: a namespace is a property of the thread.
fn on_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(worker
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

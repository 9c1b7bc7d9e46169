//! Managers for several threads at once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mptcplab_linux::netns::NetNs;

use crate::{Error, Interrupt, Manager};

/// The most idle managers that are kept.
const IDLE: usize = 4;

/// Carries out the commands of several threads at once: each has a [`Manager`] of its own as long as
/// it waits, so that none waits for another's peer.
pub struct Managers {
    backend: Backend,
    idle: Mutex<Vec<Manager>>,
}

enum Backend {
    Broker(PathBuf),
    /// In the namespace in which the first was made.
    Direct(NetNs),
}

impl Managers {
    /// As [`Manager::open`].
    ///
    /// # Errors
    /// As [`Manager::open`].
    pub fn open() -> Result<Self, Error> {
        Self::with_first(Manager::open()?)
    }

    /// As [`Manager::direct`].
    ///
    /// # Errors
    /// As [`Manager::direct`].
    pub fn direct() -> Result<Self, Error> {
        Self::with_first(Manager::direct()?)
    }

    /// As [`Manager::broker`].
    ///
    /// # Errors
    /// As [`Manager::broker`].
    pub fn broker(path: &Path) -> Result<Self, Error> {
        Self::with_first(Manager::broker(path)?)
    }

    /// The broker's socket; `None` where this process itself gives commands to the kernel.
    pub fn broker_path(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Broker(path) => Some(path),
            Backend::Direct(_) => None,
        }
    }

    /// Runs a command on an idle manager, or a new one; `interrupt` may end the waiting.
    ///
    /// # Errors
    /// The command's, and those of making one more manager.
    pub fn run<T>(
        &self,
        interrupt: Option<Interrupt>,
        command: impl FnOnce(&mut Manager) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let idle = self.lock().pop();
        let mut manager = idle.map_or_else(|| self.another(), Ok)?;
        manager.interruptible(interrupt);
        let done = command(&mut manager);
        manager.interruptible(None);
        let mut idle = self.lock();
        // A session that was interrupted is closed, so that the broker gives up its command.
        if idle.len() < IDLE && !matches!(done, Err(Error::Interrupted)) {
            idle.push(manager);
        }
        done
    }

    fn with_first(manager: Manager) -> Result<Self, Error> {
        let backend = match manager.broker_path() {
            Some(path) => Backend::Broker(path.to_owned()),
            None => Backend::Direct(
                NetNs::current().map_err(|error| Error::kernel("open the namespace", &error))?,
            ),
        };
        Ok(Self {
            backend,
            idle: Mutex::new(vec![manager]),
        })
    }

    fn another(&self) -> Result<Manager, Error> {
        match &self.backend {
            Backend::Broker(path) => Manager::broker(path),
            Backend::Direct(namespace) => namespace
                .within(Manager::direct)
                .map_err(|_| Error::ForeignNamespace)?,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Manager>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

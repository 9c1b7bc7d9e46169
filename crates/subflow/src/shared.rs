//! Orders of several threads at once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mptcplab_kernel::netns::NetNs;

use crate::{Error, Interrupt, Manager};

/// Managers that are kept while nobody has an order for them.
const IDLE: usize = 4;

/// Carries out the orders of several threads at once: each has a [`Manager`] of its own as long as
/// it waits, so that none waits for another's peer.
pub struct Managers {
    way: Way,
    idle: Mutex<Vec<Manager>>,
}

enum Way {
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

    /// The broker's socket; `None` where orders are given to the kernel by this process.
    pub fn broker_path(&self) -> Option<&Path> {
        match &self.way {
            Way::Broker(path) => Some(path),
            Way::Direct(_) => None,
        }
    }

    /// Has an order carried out; `interrupt` may end the waiting.
    ///
    /// # Errors
    /// The order's, and those of making one more manager.
    pub fn order<T>(
        &self,
        interrupt: Option<Interrupt>,
        order: impl FnOnce(&mut Manager) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let idle = self.lock().pop();
        let mut manager = idle.map_or_else(|| self.another(), Ok)?;
        manager.interruptible(interrupt);
        let done = order(&mut manager);
        manager.interruptible(None);
        let mut idle = self.lock();
        // A talk that was left in the middle ends, so that the broker gives up what it waits for.
        if idle.len() < IDLE && !matches!(done, Err(Error::Interrupted)) {
            idle.push(manager);
        }
        done
    }

    fn with_first(manager: Manager) -> Result<Self, Error> {
        let way = match manager.broker_path() {
            Some(path) => Way::Broker(path.to_owned()),
            None => Way::Direct(
                NetNs::current().map_err(|error| Error::kernel("open the namespace", &error))?,
            ),
        };
        Ok(Self {
            way,
            idle: Mutex::new(vec![manager]),
        })
    }

    fn another(&self) -> Result<Manager, Error> {
        match &self.way {
            Way::Broker(path) => Manager::broker(path),
            Way::Direct(namespace) => namespace
                .within(Manager::direct)
                .map_err(|_| Error::ForeignNamespace)?,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Manager>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Subflows that are opened by order: what the kernel's own path manager cannot.

use std::io;
use std::sync::Arc;
use std::thread;

use mptcplab_kernel::event::Events;
use mptcplab_path_manager::{Config, Daemon, Paths};
use nix::sys::eventfd::EventFd;

use crate::plan::Node;
use crate::record::Recorder;

/// Somebody who hears of a node's connections while this lives. Without one the kernel resets each
/// subflow that is opened by order.
pub(super) enum Ordered {
    /// The applications give the orders.
    ByApplications(#[expect(dead_code, reason = "it is there to be subscribed")] Events),
    /// A path manager does, on a thread of its own, until this is written to.
    ByDaemon(Arc<EventFd>),
}

impl Ordered {
    /// Begins in the calling thread's namespace, where the node wants it.
    pub(super) fn start(node: &Node, recorder: &Recorder) -> io::Result<Option<Self>> {
        if node.mptcp.by_application {
            return Ok(Some(Self::ByApplications(Events::open()?)));
        }
        if node.mptcp.subflows_per_pair <= 1 {
            return Ok(None);
        }
        let config = Config {
            paths: Paths::Ndiffports(node.mptcp.subflows_per_pair),
            most_subflows: node.mptcp.limit_subflows + 1,
            ..Config::default()
        };
        let mut daemon = Daemon::open(config)?;
        let stop = Arc::new(EventFd::new()?);
        let (told, recorder, name) = (Arc::clone(&stop), recorder.clone(), node.name.clone());
        thread::Builder::new()
            .name("path manager".into())
            .spawn(move || {
                let ended = daemon.run(&told, |order, done| {
                    if let Err(error) = done {
                        recorder.warn(&format!("{name}: {order:?} was refused: {error}"));
                    }
                });
                if let Err(error) = ended {
                    recorder.warn(&format!("{name}: the path manager stopped: {error}"));
                }
            })?;
        Ok(Some(Self::ByDaemon(stop)))
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        if let Self::ByDaemon(stop) = self {
            // A daemon that has stopped by itself does not hear it.
            let _ = stop.write(1);
        }
    }
}

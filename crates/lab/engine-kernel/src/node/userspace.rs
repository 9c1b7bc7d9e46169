//! Subflows that are opened by command, beyond what the kernel's own path manager does.

use std::io;
use std::sync::Arc;
use std::thread;

use mptcplab_linux::event::Events;
use mptcplab_path_manager::{Config, Daemon, Paths};
use nix::sys::eventfd::EventFd;

use crate::plan;
use crate::record::Recorder;

/// A subscriber to the MPTCP events of a node. Without one the kernel resets each subflow that is
/// opened by command.
pub(super) enum UserspacePathManager {
    /// The applications give the commands.
    Applications(#[expect(dead_code, reason = "it keeps the subscription")] Events),
    /// A path manager on a thread of its own gives them, until this is written to.
    Daemon(Arc<EventFd>),
}

impl UserspacePathManager {
    /// Starts in the calling thread's namespace, where the node is configured so.
    pub(super) fn start(node: &plan::Node, recorder: &Recorder) -> io::Result<Option<Self>> {
        if node.mptcp.by_application {
            return Ok(Some(Self::Applications(Events::open()?)));
        }
        if node.mptcp.subflows_per_pair <= 1 {
            return Ok(None);
        }
        let config = Config {
            paths: Paths::Ndiffports(node.mptcp.subflows_per_pair),
            most_subflows: node.mptcp.limit_subflows + 1,
            // The kernel resets a joined subflow of which the peer's first segments are lost.
            refresh: true,
            ..Config::default()
        };
        let mut daemon = Daemon::open(config)?;
        let stop = Arc::new(EventFd::new()?);
        let (told, recorder, name) = (Arc::clone(&stop), recorder.clone(), node.name.clone());
        thread::Builder::new()
            .name("path manager".into())
            .spawn(move || {
                let ended = daemon.run(&told, |command, done| {
                    // A connection that is ending takes no further subflow.
                    let is_ending = |error: &io::Error| error.kind() == io::ErrorKind::NotConnected;
                    if let Some(error) = done.err().filter(|error| !is_ending(error)) {
                        recorder.warn(&format!("{name}: {command:?} was refused: {error}"));
                    }
                });
                if let Err(error) = ended {
                    recorder.warn(&format!("{name}: the path manager stopped: {error}"));
                }
            })?;
        Ok(Some(Self::Daemon(stop)))
    }
}

impl Drop for UserspacePathManager {
    fn drop(&mut self) {
        if let Self::Daemon(stop) = self {
            // A daemon that has stopped by itself does not read it.
            let _ = stop.write(1);
        }
    }
}

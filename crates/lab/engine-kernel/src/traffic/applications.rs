//! The applications of the clients, where they open and close subflows themselves.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use mptcplab_subflow::{Error, Manager, Open, connection};
use socket2::Socket;

use super::flow::Flow;
use crate::netns::NetNs;
use crate::record::Recorder;

/// The open connections of all flows, as the clients' applications hold them.
#[derive(Clone, Default)]
pub struct Applications(Arc<Mutex<Vec<Arc<Held>>>>);

/// A client's end of a connection.
struct Held {
    traffic: String,
    netns: NetNs,
    socket: OwnedFd,
}

/// An entry in the list of open connections, removed when this is dropped.
pub(super) struct Registered {
    applications: Applications,
    held: Arc<Held>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.applications
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|held| !Arc::ptr_eq(held, &self.held));
    }
}

impl Applications {
    /// Takes an established connection of a flow: its application opens its own subflows, each on a
    /// thread of its own, and opens and closes more until the result is dropped.
    ///
    /// Where the client's path manager opens the subflows, nothing is held.
    pub(super) fn take_over(&self, flow: &Flow, socket: &Socket) -> Option<Registered> {
        if !flow.client.by_application {
            return None;
        }
        // Without a descriptor to spare there is no transfer either.
        let socket = socket.as_fd().try_clone_to_owned().ok()?;
        let held = Arc::new(Held {
            traffic: flow.traffic.name.clone(),
            netns: flow.client.netns.clone(),
            socket,
        });
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(&held));
        for own in &flow.traffic.subflows {
            let target = SocketAddr::new(own.target, flow.traffic.port);
            open(Arc::clone(&held), own.source, target, &flow.recorder);
        }
        Some(Registered {
            applications: self.clone(),
            held,
        })
    }

    /// Opens or closes a subflow between two addresses, on each connection of a flow.
    pub(crate) fn change_subflow(
        &self,
        traffic: &str,
        (source, target): (IpAddr, SocketAddr),
        is_open: bool,
        recorder: &Recorder,
    ) {
        let every = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for held in every.iter().filter(|held| held.traffic == traffic) {
            let held = Arc::clone(held);
            match is_open {
                true => open(held, source, target, recorder),
                false => close(held, source, target, recorder),
            }
        }
    }
}

fn open(held: Arc<Held>, source: IpAddr, target: SocketAddr, recorder: &Recorder) {
    in_background(held, recorder, move |held, manager| {
        let command = Open {
            remote: Some(target),
            ..Open::from(SocketAddr::new(source, 0))
        };
        let opened = manager.open_subflow(&held.socket, &command).map(drop);
        opened.map_err(|error| format!("no subflow from {source} to {target}: {error}"))
    });
}

fn close(held: Arc<Held>, source: IpAddr, target: SocketAddr, recorder: &Recorder) {
    in_background(held, recorder, move |held, manager| {
        let wrong = |error: Error| format!("subflow from {source} to {target}: {error}");
        let connection = connection(&held.socket).map_err(wrong)?;
        let mut between = connection
            .subflows
            .iter()
            .filter(|subflow| subflow.local.ip() == source && subflow.remote == target)
            .peekable();
        if between.peek().is_none() {
            return Err(format!("there is no subflow from {source} to {target}"));
        }
        between
            .try_for_each(|subflow| manager.close_subflow(&held.socket, subflow.id))
            .map_err(wrong)
    });
}

/// Works in the client's namespace; events and traffic do not wait for its end.
fn in_background(
    held: Arc<Held>,
    recorder: &Recorder,
    work: impl FnOnce(&Held, &mut Manager) -> Result<(), String> + Send + 'static,
) {
    let recorder = recorder.clone();
    thread::spawn(move || {
        let done = held.netns.enter().map_err(|error| error.to_string());
        let manager = done.and_then(|()| Manager::direct().map_err(|error| error.to_string()));
        if let Err(problem) = manager.and_then(|mut manager| work(&held, &mut manager)) {
            recorder.warn(&format!("{}: {problem}", held.traffic));
        }
    });
}

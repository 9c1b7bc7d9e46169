//! The events of a run, each at its time.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::host::Host;
use crate::network::{Switchboard, subject};
use crate::plan::{Action, Event, Plan, Traffic};
use crate::traffic::Context;

/// The thread that waits for the events. Dropping it cancels those that have not come yet.
pub struct Timeline {
    cancel: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts to wait for the events of `plan`.
///
/// # Errors
/// When the thread cannot be made.
pub fn start(
    plan: &Arc<Plan>,
    switchboard: Switchboard,
    hosts: &Arc<Vec<Host>>,
    context: &Context,
) -> io::Result<Timeline> {
    let (recorder, applications) = (context.recorder.clone(), context.applications.clone());
    let (cancel, cancelled) = channel();
    let (plan, hosts) = (Arc::clone(plan), Arc::clone(hosts));
    let thread = thread::Builder::new()
        .name("timeline".into())
        .spawn(move || {
            for moment in plan.events.chunk_by(|one, next| one.at_ns == next.at_ns) {
                let wait = Duration::from_nanos(moment[0].at_ns.saturating_sub(recorder.now()));
                if cancelled.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let mut moment: Vec<&Event> = moment.iter().collect();
                for event in &moment {
                    let (kind, what) = describe(&plan, &event.action);
                    recorder.event(kind, &what, &event.label);
                    if let Action::Subflow {
                        traffic,
                        source,
                        target,
                        open,
                    } = event.action
                    {
                        let Traffic { name, port, .. } = &plan.traffic[traffic];
                        let ends = (source, SocketAddr::new(target, *port));
                        applications.order(name, ends, open, &recorder);
                    }
                }
                for stage in Switchboard::STAGES {
                    moment.retain(|event| {
                        let done = stage(&switchboard, &event.action, &hosts);
                        done.inspect_err(|error| {
                            recorder.warn(&format!("event '{}' failed: {error}", event.label));
                        })
                        .is_ok()
                    });
                }
            }
        })?;
    Ok(Timeline {
        cancel: Some(cancel),
        thread: Some(thread),
    })
}

impl Drop for Timeline {
    fn drop(&mut self) {
        drop(self.cancel.take());
        if let Some(thread) = self.thread.take() {
            // A panic has been printed by its thread; the run's results are kept.
            let _ = thread.join();
        }
    }
}

/// Kind and subject of an event's row.
fn describe(plan: &Plan, action: &Action) -> (&'static str, String) {
    match action {
        Action::Link { link, .. } => ("link", plan.links[*link].name.clone()),
        Action::Interface { interface, .. } => ("interface", subject(plan, *interface)),
        Action::Backup { interface, .. } => ("backup", subject(plan, *interface)),
        Action::Subflow { traffic, .. } => ("subflow", plan.traffic[*traffic].name.clone()),
    }
}

//! The events of a run, carried out at their times.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::network::NetworkControl;
use crate::node::Node;
use crate::plan::{Action, Event, Plan, Traffic};
use crate::traffic::Context;

/// The thread of the events. Dropping it cancels those that have not come yet.
pub struct Timeline {
    cancel: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread for the events of `plan`.
///
/// # Errors
/// When the thread cannot be made.
pub fn start(
    plan: &Arc<Plan>,
    control: NetworkControl,
    nodes: &Arc<Vec<Node>>,
    context: &Context,
) -> io::Result<Timeline> {
    let (recorder, applications) = (context.recorder.clone(), context.applications.clone());
    let (cancel, cancelled) = channel();
    let (plan, nodes) = (Arc::clone(plan), Arc::clone(nodes));
    let thread = thread::Builder::new()
        .name("timeline".into())
        .spawn(move || {
            for moment in plan.events.chunk_by(|one, next| one.at_ns == next.at_ns) {
                let clock = recorder.clock();
                let due = clock.zero() + Duration::from_nanos(moment[0].at_ns);
                if clock.receive_by(&cancelled, due) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                let mut moment: Vec<&Event> = moment.iter().collect();
                for event in &moment {
                    let subject = event.action.subject(&plan);
                    recorder.event(event.action.kind(), &subject, &event.label);
                    if let Action::Subflow {
                        traffic,
                        source,
                        target,
                        open,
                    } = event.action
                    {
                        let Traffic { name, port, .. } = &plan.traffic[traffic];
                        let ends = (source, SocketAddr::new(target, *port));
                        applications.change_subflow(name, ends, open, &recorder);
                    }
                }
                for stage in NetworkControl::STAGES {
                    moment.retain(|event| {
                        let done = stage(&control, &event.action, &nodes);
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

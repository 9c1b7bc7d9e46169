//! Changes of the network while a run lasts, and samples of its links.

use std::io;

use mptcplab_linux::rtnetlink::Rtnetlink;
use mptcplab_record::LinkSample;

use crate::emulator::Control;
use crate::netns::NetNs;
use crate::node::Node;
use crate::plan::{Action, InterfaceRef, Plan};
use crate::record::Recorder;

/// A step of carrying out an event.
pub type Stage = fn(&NetworkControl, &Action, &[Node]) -> io::Result<()>;

/// A handle by which the events of a run change the network.
#[derive(Clone)]
pub struct NetworkControl {
    pub(super) lab_netns: NetNs,
    pub(super) emulator: Control,
    pub(super) near: Vec<[Option<u32>; 2]>,
    pub(super) ends: Vec<[InterfaceRef; 2]>,
}

impl NetworkControl {
    /// The steps of carrying out an event, in their order. Events of one moment pass each stage
    /// together: removing a carrier takes the kernel some ten milliseconds.
    pub const STAGES: [Stage; 3] = [Self::change_link, Self::disconnect, Self::change_nodes];

    /// Changes the link model and tells the switches at it: packets that a host sends the moment its
    /// carrier is back find the link up.
    fn change_link(&self, action: &Action, _: &[Node]) -> io::Result<()> {
        match action {
            Action::Link {
                link,
                change,
                carrier,
            } => self.emulator.change(*link, change.clone(), *carrier),
            _ => Ok(()),
        }
    }

    /// Lets the nodes remove the addresses at cables that are disconnected.
    fn disconnect(&self, action: &Action, nodes: &[Node]) -> io::Result<()> {
        match *action {
            Action::Link {
                link,
                carrier: Some(false),
                ..
            } => self.set_plugged(link, false, nodes),
            _ => Ok(()),
        }
    }

    /// Changes carriers, interfaces and endpoints.
    fn change_nodes(&self, action: &Action, nodes: &[Node]) -> io::Result<()> {
        match *action {
            Action::Link { link, carrier, .. } => {
                let Some(up) = carrier else { return Ok(()) };
                for index in self.near[link].into_iter().flatten() {
                    self.lab_netns
                        .run(|| Rtnetlink::open()?.set_up(index, up))??;
                }
                if up {
                    self.set_plugged(link, true, nodes)?;
                }
                Ok(())
            }
            Action::Interface { interface, up } => {
                nodes[interface.node].set_up(interface.interface, up)
            }
            Action::Backup { interface, backup } => {
                nodes[interface.node].set_backup(interface.interface, backup)
            }
            // The applications do that.
            Action::Subflow { .. } => Ok(()),
        }
    }

    /// The handle of the emulator.
    pub(crate) fn emulator(&self) -> &Control {
        &self.emulator
    }

    fn set_plugged(&self, link: usize, plugged: bool, nodes: &[Node]) -> io::Result<()> {
        self.ends[link]
            .iter()
            .try_for_each(|end| match nodes.get(end.node) {
                Some(node) => node.set_plugged(end.interface, plugged),
                // A switch has been told by the emulator.
                None => Ok(()),
            })
    }

    /// Writes a row for each direction of each link.
    ///
    /// # Errors
    /// When the emulator has ended or the reader of the rows has gone.
    pub fn sample(&self, plan: &Plan, recorder: &Recorder) -> io::Result<()> {
        let t_ns = recorder.now();
        for (link, states) in plan.links.iter().zip(self.emulator.state()?) {
            for (direction, state) in states.iter().enumerate() {
                let from = plan.subject(link.ends[direction]);
                let to = plan.subject(link.ends[1 - direction]);
                let row = LinkSample {
                    t_ns,
                    link: &link.name,
                    from: &from,
                    to: &to,
                    rate_bps: state.rate_bps,
                    counters: state.counters,
                    backlog: state.backlog,
                    overruns: state.overruns,
                };
                recorder.write(row)?;
            }
        }
        Ok(())
    }
}

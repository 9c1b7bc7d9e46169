//! The discovery of the network by its controller, before the run begins.
//!
//! The links at switches are set up as they are in a run, and work without traffic, in virtual time,
//! until the controller knows every link between switches and every address of hosts and routers
//! at them. The switches and the controller go into the run as they are then.

use std::collections::HashMap;

use bytes::Bytes;
use mptcplab_controller::Policy;
use mptcplab_link::{Link, Nanos};
use mptcplab_plan::{InterfaceRef, Plan};

use crate::ethernet::{HEADER_BYTES, neighbour};
use crate::segments::segments;
use crate::setup::UnknownPolicy;
use crate::switching::{Sent, Switching};

/// The network is taken as it is known then.
const LONGEST_NS: Nanos = 10_000_000_000;
/// Time between two announcements of the addresses.
const ANNOUNCEMENT_NS: Nanos = 1_000_000_000;

/// The switches of a plan and their controller, which has found them, their links and the hosts;
/// and, where it has not found them all within 10 s, a warning. `links` are new models of the plan's
/// links, in their order; `supply` makes the policy, where that is none of the controller's own. Where
/// the controller or a switch is outside, it is found in the time of
/// that: nothing is done here.
///
/// # Errors
/// When the controller's policy is none.
pub fn discovered(
    plan: &Plan,
    links: Vec<Link<Bytes>>,
    supply: Option<impl FnOnce(u64) -> Box<dyn Policy>>,
) -> Result<(Switching, Option<&'static str>), UnknownPolicy> {
    let mut network = Network {
        now: 0,
        switching: Switching::new(plan, supply)?,
        links,
        end_of: ends(plan),
        sent: Vec::new(),
    };
    if !network.switching.is_whole() {
        return Ok((network.switching, None));
    }
    let is_known = network.discover(plan);
    let mut switching = network.switching;
    switching.begin(network.now);
    let warning = "the controller of the switches had not found all of them, their links and the \
                   hosts within 10 s; the run began without";
    Ok((switching, (!is_known).then_some(warning)))
}

fn ends(plan: &Plan) -> HashMap<InterfaceRef, (usize, usize)> {
    let links = plan.links.iter().enumerate();
    let ends = links.flat_map(|(link, planned)| [0, 1].map(|end| (planned.ends[end], (link, end))));
    ends.collect()
}

struct Network {
    now: Nanos,
    switching: Switching,
    links: Vec<Link<Bytes>>,
    /// The link at an interface, and which end of it.
    end_of: HashMap<InterfaceRef, (usize, usize)>,
    /// Frames that switches send; empty between two calls.
    sent: Vec<Sent>,
}

impl Network {
    /// Works until the controller knows the network, and nothing is on its way; false where that
    /// takes too long.
    fn discover(&mut self, plan: &Plan) -> bool {
        let announcements: Vec<Sent> = announcements(plan).collect();
        let mut announce_at = 0;
        while let Some(next) = self.next()
            && next <= LONGEST_NS
        {
            if self.is_quiet() && self.switching.knows_network() {
                return true;
            }
            self.now = self.now.max(next);
            // Switches drop what comes before the controller has connected.
            if self.now >= announce_at {
                self.sent.extend_from_slice(&announcements);
                self.send();
                announce_at = self.now + ANNOUNCEMENT_NS;
            }
            self.act(plan);
        }
        // Where messages take long, some always are on their way.
        self.switching.knows_network()
    }

    /// The next time at which something happens.
    fn next(&self) -> Option<Nanos> {
        let links = self.links.iter().filter_map(Link::next_deadline);
        links.chain(self.switching.next_deadline()).min()
    }

    fn is_quiet(&self) -> bool {
        let mut links = self.links.iter();
        self.switching.is_quiet() && links.all(|link| link.next_deadline().is_none())
    }

    /// Does what is due now.
    fn act(&mut self, plan: &Plan) {
        let mut due = Vec::new();
        for link in 0..self.links.len() {
            self.links[link].poll(self.now, &mut due);
            for delivery in due.drain(..) {
                let to = plan.links[link].ends[1 - delivery.direction];
                self.switching
                    .receive_frame(self.now, to, delivery.packet, &mut self.sent);
            }
        }
        self.send();
        self.switching.advance(self.now, &mut self.sent);
        self.send();
    }

    /// Passes the frames that are sent to the links.
    fn send(&mut self) {
        for Sent { by, frame } in self.sent.drain(..) {
            if let Some(&(link, end)) = self.end_of.get(&by) {
                let ip_bytes = frame.len().saturating_sub(HEADER_BYTES) as u32;
                // A frame that the link does not take is lost, as in the run.
                self.links[link].offer(end, self.now, ip_bytes, frame).ok();
            }
        }
    }
}

/// The frames by which hosts and routers on segments make their addresses known.
fn announcements(plan: &Plan) -> impl Iterator<Item = Sent> {
    let attached = segments(plan).into_iter().flatten();
    attached.flat_map(|attached| {
        attached.addresses(plan).map(move |(address, own)| Sent {
            by: attached.of,
            frame: neighbour::announcement(own, address).into(),
        })
    })
}

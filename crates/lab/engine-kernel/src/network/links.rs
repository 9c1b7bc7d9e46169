//! The links of a network at work: before the run, where a controller outside is to find the
//! network, and in the run.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use mptcplab_middlebox::Chain;

use super::captures::Capture;
use super::{Network, NetworkControl, link_seed, mac, near_name, within};
use crate::capture::{Tap, Writer};
use crate::controller::{PlannedPolicy, PolicyProgram, Programs};
use crate::emulator::{EmulatedLink, Emulator, LinkTime, Middleboxes, Summary, Switches};
use crate::netns::NetNs;
use crate::node::Node;
use crate::plan::{InterfaceRef, Plan};
use crate::realtime::ReservedThread;
use crate::record::Recorder;
use crate::traffic::{Context, Stop};

/// A network that is ready for the run.
pub struct Prepared {
    lab_netns: NetNs,
    near: Vec<[Option<u32>; 2]>,
    ends: Vec<[InterfaceRef; 2]>,
    captures: Vec<Capture>,
    policy: Option<PolicyProgram>,
    state: State,
}

enum State {
    /// The links begin with the run.
    Waiting {
        thread: ReservedThread,
        links: Vec<EmulatedLink>,
        switches: Box<Option<Switches>>,
        stop: Stop,
    },
    /// The links are at work, as the controller outside has found the network over them.
    Working {
        emulator: Emulator,
        programs: Programs,
    },
}

/// The links of a network in a run.
pub struct Links {
    lab_netns: NetNs,
    emulator: Emulator,
    programs: Option<Programs>,
    policy: Option<PolicyProgram>,
    captures: Vec<(String, Writer, Arc<AtomicU64>)>,
    near: Vec<[Option<u32>; 2]>,
    ends: Vec<[InterfaceRef; 2]>,
}

impl Network {
    /// Makes everything ready that takes long, the links to begin on `thread`. A controller that is
    /// another's is started, connected to the switches, and given time to find the network; so is the
    /// program of a policy, which loads its file.
    ///
    /// The context notes what the links' middleboxes make of addresses, its recorder what the
    /// controller of the switches decides, and its stop is requested when the links cannot go on.
    ///
    /// # Errors
    /// When a link's parameters are refused, or the controller cannot be run or does not answer.
    pub fn prepare(
        self,
        plan: &Plan,
        nodes: &[Node],
        context: &Context,
        thread: ReservedThread,
    ) -> io::Result<Prepared> {
        let mut links = Vec::new();
        for (number, (link, ends)) in plan.links.iter().zip(self.ends).enumerate() {
            let InterfaceRef { node, interface } = link.ends[0];
            let mtu = plan.nodes[node].interfaces[interface].mtu;
            let boxes = Chain::new(&link.middleboxes, plan.seed, number);
            let translations = context.translations.clone();
            links.push(EmulatedLink {
                config: link.config.clone(),
                middleboxes: Middleboxes::new(boxes, mac(number, false), mtu, translations),
                seed: link_seed(plan.seed, number),
                ends,
                taps: [None, None],
            });
        }
        let (outside, connections) = self.outside.unzip();
        let recorder = &context.recorder;
        let failure = self.policy.as_ref().map(PlannedPolicy::failure);
        let switches = self.switching.map(|(switching, warning)| {
            if let Some(text) = warning {
                recorder.warn(text);
            }
            let recorder = recorder.clone();
            let decided = Box::new(move |decision| recorder.decision(decision));
            Switches {
                switching,
                begins_later: outside.is_some(),
                connections,
                failure: failure.unwrap_or_default(),
                decided,
            }
        });
        let stop = context.stop.clone();
        let policy = self.policy.map(|policy| policy.start(recorder, &stop));
        let policy = policy.transpose()?;
        let state = match outside {
            None => State::Waiting {
                thread,
                links,
                switches: Box::new(switches),
                stop,
            },
            Some(outside) => {
                let near = &self.near;
                let programs = outside.start(plan, recorder, |port| port_name(plan, near, port))?;
                let time = LinkTime::since(Instant::now(), recorder.clock());
                let emulator = start(thread, links, switches, time, stop.clone())?;
                let noted = (recorder, &stop);
                if let Err(error) = outside.find_network(&emulator, &programs, nodes, noted) {
                    programs.end(recorder);
                    return Err(error);
                }
                State::Working { emulator, programs }
            }
        };
        Ok(Prepared {
            lab_netns: self.lab_netns,
            near: self.near,
            ends: plan.links.iter().map(|link| link.ends).collect(),
            captures: self.captures,
            policy,
            state,
        })
    }
}

/// The name of the interface at a port of a bridge, if a link is there.
fn port_name(plan: &Plan, near: &[[Option<u32>; 2]], port: InterfaceRef) -> Option<String> {
    let links = plan.links.iter().zip(near).enumerate();
    let mut ends = links.flat_map(|(number, (link, near))| {
        [0, 1].map(|end| (near[end].is_some() && link.ends[end] == port, number, end))
    });
    ends.find_map(|(is_there, number, end)| is_there.then(|| near_name(number, end)))
}

fn start(
    thread: ReservedThread,
    links: Vec<EmulatedLink>,
    switches: Option<Switches>,
    time: LinkTime,
    stop: Stop,
) -> io::Result<Emulator> {
    let failed = move || stop.request("the links failed");
    Emulator::start(thread, links, switches, time, failed)
}

impl Prepared {
    /// Begins the run, whose zero is that of the links' time and of their captures.
    ///
    /// # Errors
    /// When a link's parameters are refused.
    pub fn begin(self, recorder: &Recorder) -> io::Result<Links> {
        let zero = match &self.state {
            State::Waiting { .. } => recorder.begin(),
            // The traffic waits for the recorder, and its first packets for links that are as new.
            State::Working { .. } => Instant::now(),
        };
        let epoch_ns = epoch_ns(zero)?;
        let mut taken = HashMap::new();
        let mut captures = Vec::new();
        for mut capture in self.captures {
            capture.tap.begin(epoch_ns);
            captures.push((capture.subject, capture.writer, capture.tap.lost()));
            taken.insert(capture.of, capture.tap);
        }
        let taps = self.ends.iter();
        let taps: Vec<[Option<Tap>; 2]> = taps
            .map(|ends| ends.map(|end| taken.remove(&end)))
            .collect();
        let (emulator, programs) = match self.state {
            State::Waiting {
                thread,
                mut links,
                switches,
                stop,
            } => {
                for (link, taps) in links.iter_mut().zip(taps) {
                    link.taps = taps;
                }
                let time = LinkTime::since(zero, recorder.clock());
                (start(thread, links, *switches, time, stop)?, None)
            }
            State::Working { emulator, programs } => {
                emulator.begin(zero, taps)?;
                recorder.clock().begin_at(zero);
                (emulator, Some(programs))
            }
        };
        Ok(Links {
            lab_netns: self.lab_netns,
            emulator,
            programs,
            policy: self.policy,
            captures,
            near: self.near,
            ends: self.ends,
        })
    }
}

impl Links {
    /// A handle for the run's events.
    pub fn control(&self) -> NetworkControl {
        NetworkControl {
            lab_netns: self.lab_netns.clone(),
            emulator: self.emulator.control(),
            near: self.near.clone(),
            ends: self.ends.clone(),
        }
    }

    /// Ends the emulator and the programs of controller and bridges, and completes the captures.
    ///
    /// # Errors
    /// The error that ended the emulator, or that of writing a capture.
    pub fn stop(self, recorder: &Recorder) -> io::Result<Summary> {
        let stopped = self.emulator.stop();
        if let Some(programs) = self.programs {
            programs.end(recorder);
        }
        if let Some(policy) = self.policy {
            policy.end();
        }
        let summary = stopped?;
        for (name, writer, lost) in self.captures {
            writer
                .finish()
                .map_err(|error| within(&format!("capture of {name}"), error))?;
            let lost = lost.load(Ordering::Relaxed);
            if lost > 0 {
                recorder.warn(&format!(
                    "the capture of {name} lacks {lost} packets: the disk was too slow; capture \
                     fewer interfaces or bytes of each packet"
                ));
            }
        }
        Ok(summary)
    }
}

/// The run's zero in nanoseconds after the Unix epoch.
fn epoch_ns(zero: Instant) -> io::Result<u64> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?;
    Ok((now - zero.elapsed()).as_nanos() as u64)
}

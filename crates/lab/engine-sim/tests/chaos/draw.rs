//! Random worlds.

use std::fmt;

use mptcplab_link::{Jitter, LinkChange, Loss, Rate, Reordering};
use mptcplab_plan::{
    Action, Capture, EndpointFlags, InterfaceRef, Middlebox, Protocol, SegmentKind,
};

use crate::support::{Lab, MS, Path, SECOND};

/// The last change of a path happens before this time; afterwards every path works.
pub(crate) const QUIET_FROM_NS: u64 = 20 * SECOND;

/// Numbers from a seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From `low` to below `high`.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.bits() % (high - low)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.range(0, 100) < percent
    }

    /// From 1 to `most`, small ones as likely as large ones.
    pub(crate) fn magnitude(&mut self, most: u64) -> u64 {
        let bits = self.range(0, 64 - u64::from(most.leading_zeros()));
        self.range(1, (2 << bits).min(most + 1))
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.range(0, from.len() as u64) as usize]
    }
}

/// A world to try a connection in.
#[derive(Debug)]
pub(crate) struct Draw {
    pub(crate) lab: Lab,
    pub(crate) protocol: Protocol,
    pub(crate) congestion_controls: [&'static str; 2],
    /// A box changes bytes and corrects the checksums: what arrives need not be what was sent.
    pub(crate) is_changed: bool,
    /// A box acknowledges in the receiver's name: a sender need not hear of what is lost.
    pub(crate) is_proxied: bool,
    /// A box lets the handshake of MPTCP pass and takes what its end needs: a DATA_FIN without data
    /// stands in an acknowledgement. Such a connection lasts until its application lets go of it.
    pub(crate) may_hang: bool,
}

impl fmt::Display for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            protocol,
            congestion_controls,
            ..
        } = self;
        writeln!(f, "{protocol:?} with {congestion_controls:?}")?;
        for node in &self.lab.plan.nodes {
            writeln!(f, "{}: {:?}", node.name, node.mptcp)?;
        }
        for link in &self.lab.plan.links {
            writeln!(f, "{}: {:?}", link.name, link.config)?;
            writeln!(f, "    {:?}", link.middleboxes)?;
        }
        for event in &self.lab.plan.events {
            writeln!(f, "{:.6} s: {:?}", event.at_ns as f64 / 1e9, event.action)?;
        }
        Ok(())
    }
}

const CONGESTION_CONTROLS: [&str; 6] = ["cubic", "reno", "lia", "olia", "balia", "wvegas"];

/// The world of a seed.
pub(crate) fn draw(dice: &mut Dice) -> Draw {
    let count = dice.range(1, 5) as usize;
    let paths: Vec<Path> = (0..count).map(|_| path(dice)).collect();
    let mut lab = Lab::with_paths(dice.bits(), &paths);
    // Nothing is sampled.
    lab.plan.sample_interval_ns = u64::MAX;
    lab.plan.time_limit_ns = u64::MAX;
    let protocol = match dice.chance(70) {
        true => Protocol::Mptcp,
        false => Protocol::Tcp,
    };
    if protocol == Protocol::Mptcp {
        multipath(dice, &mut lab);
    }
    let is_rough = dice.chance(80);
    let (mut is_changed, mut is_proxied, mut may_hang) = (false, false, false);
    for link in 0..count {
        if is_rough && dice.chance(70) {
            roughen(dice, &mut lab, link);
        }
        if dice.chance(25) {
            let middlebox = middlebox(dice, &lab, link);
            is_changed |= matches!(middlebox, Middlebox::ChangePayload { .. });
            is_proxied |= matches!(middlebox, Middlebox::ProxyAck { .. });
            may_hang |= match &middlebox {
                Middlebox::StripOptions {
                    on, mptcp_subtypes, ..
                } => *on == SegmentKind::Ack || !mptcp_subtypes.is_empty(),
                Middlebox::DropUnknownOptions { on, .. } => *on == SegmentKind::Ack,
                _ => false,
            };
            lab.middlebox(link, middlebox);
        }
        if dice.chance(30) {
            changes(dice, &mut lab, link);
        }
    }
    lab.plan.events.sort_by_key(|event| event.at_ns);
    capture(&mut lab);
    Draw {
        protocol,
        congestion_controls: [
            *dice.pick(&CONGESTION_CONTROLS),
            *dice.pick(&CONGESTION_CONTROLS),
        ],
        is_changed,
        is_proxied,
        may_hang,
        lab,
    }
}

/// Captures every interface where a folder is named, to look at a seed that fails.
fn capture(lab: &mut Lab) {
    if let Ok(folder) = std::env::var("MPTCPLAB_CAPTURE") {
        let links = lab.plan.links.iter();
        lab.plan.capture = Some(Capture {
            folder: folder.into(),
            interfaces: links.flat_map(|link| link.ends).collect(),
            snap_length: 128,
        });
    }
}

fn path(dice: &mut Dice) -> Path {
    let rate_bps = 500_000 + dice.magnitude(100_000_000);
    let mut path = Path::new(rate_bps, dice.magnitude(100 * MS));
    if dice.chance(30) {
        path.queue_bytes = dice.range(3000, 200_000);
    }
    path
}

fn multipath(dice: &mut Dice, lab: &mut Lab) {
    let schedulers = [
        "default",
        "lowest-rtt",
        "round-robin",
        "redundant",
        "blest",
        "ecf",
    ];
    let checksum = dice.chance(30);
    for node in 0..2 {
        let mptcp = &mut lab.plan.nodes[node].mptcp;
        mptcp.checksum = checksum || dice.chance(10);
        mptcp.scheduler = Some((*dice.pick(&schedulers)).to_owned());
        let options = &mut mptcp.scheduler_options;
        options.num_segments = dice.range(1, 4) as u32;
        options.cwnd_limited = dice.chance(50);
        options.opportunistic_retransmission = dice.chance(50);
        options.penalisation = dice.chance(50);
        mptcp.limit_subflows = dice.range(0, 9) as u32;
        mptcp.limit_add_addr_accepted = dice.range(0, 9) as u32;
        if dice.chance(15) {
            mptcp.subflows_per_pair = dice.range(2, 4) as u32;
        }
        mptcp.enabled = !dice.chance(5);
    }
    for interface in &mut lab.plan.nodes[0].interfaces {
        let flags = interface
            .endpoint
            .as_mut()
            .expect("the client has endpoints");
        flags.fullmesh = dice.chance(50);
        flags.backup = dice.chance(20);
    }
    if dice.chance(40) {
        for interface in &mut lab.plan.nodes[1].interfaces {
            interface.endpoint = Some(EndpointFlags {
                signal: true,
                backup: dice.chance(20),
                ..EndpointFlags::default()
            });
        }
    }
}

/// Loss, reordering, duplication, jitter.
fn roughen(dice: &mut Dice, lab: &mut Lab, link: usize) {
    let per_mille = |dice: &mut Dice, most| dice.range(0, most) as f64 / 1000.0;
    for direction in &mut lab.plan.links[link].config.directions {
        if dice.chance(60) {
            direction.loss = Loss::Random {
                probability: per_mille(dice, 50),
            };
        } else if dice.chance(30) {
            direction.loss = Loss::GilbertElliott {
                p: per_mille(dice, 10),
                r: 0.1 + per_mille(dice, 500),
                loss_good: 0.0,
                loss_bad: per_mille(dice, 900),
            };
        }
        if dice.chance(40) {
            direction.reordering = Some(Reordering {
                probability: per_mille(dice, 100),
                extra_ns: dice.magnitude(50 * MS),
            });
        }
        if dice.chance(30) {
            direction.duplication = per_mille(dice, 50);
        }
        if dice.chance(30) {
            direction.jitter = Jitter::Uniform {
                range_ns: dice.magnitude(20 * MS),
            };
        }
    }
}

fn middlebox(dice: &mut Dice, lab: &Lab, link: usize) -> Middlebox {
    let direction = *dice.pick(&[None, Some(0), Some(1)]);
    let on = *dice.pick(&[
        SegmentKind::Syn,
        SegmentKind::SynAck,
        SegmentKind::Ack,
        SegmentKind::Data,
        SegmentKind::All,
    ]);
    match dice.range(0, 8) {
        0 => Middlebox::Nat {
            inside: 0,
            address: {
                let std::net::IpAddr::V4(address) = lab.address(link, 0) else {
                    unreachable!("the paths are of IPv4");
                };
                let [a, b, c, _] = address.octets();
                std::net::Ipv4Addr::new(a, b, c, 77).into()
            },
        },
        1 => Middlebox::StripOptions {
            kinds: vec![30],
            mptcp_subtypes: match dice.chance(50) {
                true => vec![],
                false => vec![dice.range(0, 9) as u8],
            },
            on,
            direction,
        },
        2 => Middlebox::Split {
            payload_bytes: dice.range(200, 1400) as u32,
            direction,
        },
        3 => Middlebox::Coalesce {
            payload_bytes: dice.range(1500, 9000) as u32,
            hold_ns: dice.magnitude(5 * MS),
            direction,
        },
        4 => Middlebox::ProxyAck {
            sender: dice.range(0, 2) as usize,
        },
        5 => Middlebox::DropUnknownOptions { on, direction },
        6 => Middlebox::ChangePayload {
            probability: dice.range(1, 20) as f64 / 1000.0,
            direction,
        },
        _ => Middlebox::Corrupt {
            probability: dice.range(1, 50) as f64 / 1000.0,
            direction,
        },
    }
}

/// Up to three changes of a path, undone in the end.
fn changes(dice: &mut Dice, lab: &mut Lab, link: usize) {
    let [client, server] = lab.plan.links[link].ends;
    for _ in 0..dice.range(1, 4) {
        let from = dice.range(0, QUIET_FROM_NS - 2 * SECOND);
        let until = from + dice.magnitude(QUIET_FROM_NS - from);
        let of: InterfaceRef = *dice.pick(&[client, server]);
        let [first, then] = match dice.range(0, 5) {
            0 => [false, true].map(|up| change(link, |change| change.up = Some(up), None)),
            1 => [false, true].map(|up| change(link, |change| change.up = Some(up), Some(up))),
            2 => [false, true].map(|up| Action::Interface { interface: of, up }),
            3 => [true, false].map(|backup| Action::Backup {
                interface: client,
                backup,
            }),
            _ => {
                let rates = [dice.magnitude(50_000_000), dice.magnitude(50_000_000)];
                rates.map(|rate| {
                    let bits_per_second = 500_000 + rate;
                    let rate = Rate::Fixed { bits_per_second };
                    change(link, |change| change.rate = Some(rate), None)
                })
            }
        };
        lab.event(from, first);
        lab.event(until, then);
    }
    // Overlapping changes may have been undone in another order.
    let up = |up: Option<bool>| change(link, |change| change.up = up, up);
    lab.event(QUIET_FROM_NS, up(Some(true)));
    for interface in [client, server] {
        lab.event(
            QUIET_FROM_NS,
            Action::Interface {
                interface,
                up: true,
            },
        );
    }
}

fn change(link: usize, set: impl FnOnce(&mut LinkChange), carrier: Option<bool>) -> Action {
    let mut change = LinkChange::default();
    set(&mut change);
    Action::Link {
        link,
        change,
        carrier,
    }
}

//! Places for new subflows.

use super::install::Departure;
use super::waiting::{Cause, Received};
use crate::controller::Controller;
use crate::events::Event;
use crate::frame::{Frame, Ip};
use crate::paths::{BothWays, Path};
use crate::place::{Link, PortRef};
use crate::policy::{PathView, Request, SubflowView};
use crate::subflows::{Flow, Kind, Pace, State, Subflow};
use mptcplab_wire::option::{Join, MptcpOption};

/// The version of MPTCP whose handshake is understood (RFC 8684).
const VERSION: u8 = 1;
/// Packets of each direction in which keys are looked for: SYNs that are sent again, and segments
/// that have nothing to do with the handshake, such as challenge ACKs, come before them.
const HANDSHAKE: u8 = 16;

/// The thing that a segment opens, by its options.
enum Opening {
    /// A connection of MPTCP.
    Connection,
    /// A subflow of the connection of a token.
    Join(u32),
    /// Nothing of MPTCP.
    Other,
}

/// The place of a subflow.
enum Choice {
    Path(Chosen),
    Refused,
    /// A path, perhaps, when the connection has carried more.
    Waits,
    /// A path, when it is known which transfers are over.
    Asks(Cause),
    /// There is no path.
    Unreachable,
}

/// A path that a policy has chosen.
struct Chosen {
    path: Path,
    /// The least time of the transfer, over all disjoint paths at once, where it is known.
    transfer_ns: Option<u64>,
    /// Whether the connection, which is opened, is one of TCP in place of MPTCP.
    falls_back: bool,
}

/// A subflow that asks for a place.
struct Wanted<'a> {
    /// The first subflow's of its connection.
    connection: Flow,
    flow: Flow,
    ends: [PortRef; 2],
    kind: Kind,
    bytes: Option<u64>,
    carried_bytes: u64,
    subflows: &'a [SubflowView],
    is_moved: bool,
    /// Whether it may be TCP in place of MPTCP.
    may_fall_back: bool,
}

impl Controller {
    /// Forwards a packet of a host to another one's port.
    pub(super) fn forward(&mut self, packet: Received, frame: &Frame, ip: &Ip, to: PortRef) {
        let flow = Flow::of(ip);
        let is_opening = ip.tcp.as_ref().is_some_and(|tcp| tcp.is_opening());
        if let Some((number, is_from_opener)) = self.table.find(&flow) {
            let state = self.table.subflow(number).map(|subflow| subflow.state);
            // Ports that are used again open another connection.
            if !is_opening || state == Some(State::Installing) {
                return self.receive_known(packet, number, is_from_opener);
            }
            self.remove(number);
        }
        let ends = [packet.at, to];
        match opening(ip) {
            Opening::Connection => self.open(packet, flow, ends, Kind::Multipath),
            Opening::Join(token) => match self.table.find_token(token, ip.destination) {
                Some(connection) => self.join(packet, frame, ip, connection, ends, true),
                None => self.hold(Cause::Token(token), packet),
            },
            Opening::Other if is_last(ip) => self.pass_once(packet, ends),
            Opening::Other if flow.is_tcp() => self.open(packet, flow, ends, Kind::Tcp),
            Opening::Other => self.open(packet, flow, ends, Kind::Other),
        }
    }

    /// Forwards a subflow whose token was not seen, as of a connection older than the controller.
    pub(crate) fn forward_unknown_join(&mut self, packet: Received) {
        let Some(Frame {
            destination,
            content: crate::frame::Content::Ip(ip),
            ..
        }) = Frame::read(&packet.data)
        else {
            return;
        };
        let flow = Flow::of(&ip);
        if let Some(to) = self.hosts.port_of(destination)
            && self.table.find(&flow).is_none()
        {
            self.open(packet.clone(), flow, [packet.at, to], Kind::Tcp);
        }
    }

    /// Opens a connection with its first subflow.
    fn open(&mut self, packet: Received, flow: Flow, ends: [PortRef; 2], kind: Kind) {
        let bytes = match kind {
            Kind::Other => None,
            Kind::Multipath | Kind::Tcp => self.sizes.of(flow.server()),
        };
        let altered = match kind == Kind::Multipath && self.may_fall_back(&flow) {
            true => packet.without_capable(),
            false => None,
        };
        let wanted = Wanted {
            connection: flow,
            flow,
            ends,
            kind,
            bytes,
            carried_bytes: 0,
            subflows: &[],
            is_moved: false,
            may_fall_back: altered.is_some(),
        };
        let chosen = match self.choose(&wanted) {
            Choice::Path(chosen) => chosen,
            Choice::Asks(cause) => return self.hold(cause, packet),
            Choice::Waits | Choice::Refused | Choice::Unreachable => return,
        };
        while self.table.len() >= self.config.limits.connections.max(1) {
            let Some(first) = self.table.first_to_go() else {
                break;
            };
            self.forget(first);
        }
        let connection = self.table.open(self.now_ns, kind, flow, ends[0], bytes);
        if self.sizes.is_told(flow.server())
            && let Some(known) = self.table.connection_mut(connection)
        {
            let over_from_ns = |transfer_ns| known.opened_ns.saturating_add(transfer_ns);
            known.over_from_ns = chosen.transfer_ns.map(over_from_ns);
        }
        self.note(Event::Opened { connection });
        let packet = match altered.filter(|_| chosen.falls_back) {
            Some(altered) => {
                self.fall_back(connection, flow);
                altered
            }
            None => packet,
        };
        if self.config.learn_sizes && kind != Kind::Other {
            self.look_back(flow.server(), connection, bytes);
        }
        let copies = match kind {
            Kind::Multipath => [HANDSHAKE; 2],
            Kind::Tcp | Kind::Other => [0; 2],
        };
        self.add_subflow(packet, connection, flow, ends, chosen, copies);
    }

    /// Adds a subflow to a connection, or refuses it, or lets it wait: again if it is not new.
    pub(super) fn join(
        &mut self,
        packet: Received,
        frame: &Frame,
        ip: &Ip,
        connection: u64,
        ends: [PortRef; 2],
        is_new: bool,
    ) {
        let flow = Flow::of(ip);
        let subflows = self.subflow_views(connection, None);
        let known = self.table.connection(connection);
        let first = known.map_or(flow, |known| known.flow);
        // It may have been learned meanwhile.
        let bytes = known.and_then(|known| {
            let learned = || self.sizes.of(known.flow.server());
            known.expected_bytes.or_else(learned)
        });
        let choice = match subflows.len() < self.config.limits.subflows {
            true => self.choose(&Wanted {
                connection: first,
                flow,
                ends,
                kind: Kind::Multipath,
                bytes,
                carried_bytes: self.carried_bytes(connection),
                subflows: &subflows,
                is_moved: false,
                may_fall_back: false,
            }),
            false => Choice::Refused,
        };
        match choice {
            Choice::Path(chosen) => {
                self.add_subflow(packet, connection, flow, ends, chosen, [0; 2]);
            }
            Choice::Waits if self.wait_to_deserve(packet.clone(), flow, connection, is_new) => {}
            Choice::Refused | Choice::Waits => {
                self.note(Event::Refused { connection, flow });
                self.reset(packet.at, frame, ip);
            }
            Choice::Asks(_) | Choice::Unreachable => {}
        }
    }

    fn add_subflow(
        &mut self,
        packet: Received,
        connection: u64,
        flow: Flow,
        ends: [PortRef; 2],
        chosen: Chosen,
        copies: [u8; 2],
    ) {
        let path = chosen.path;
        let out_port = path.first().map_or(ends[1].port, |link| link.from.port);
        self.note(Event::Placed {
            connection,
            flow,
            path: path.to_vec(),
        });
        let links = path.to_vec();
        let number = self.table.add(Subflow {
            connection,
            flow,
            path,
            detours: BothWays::default(),
            ends,
            state: State::Installing,
            copies,
            counted: [false; 2],
            read_bytes: [0; 2],
            read_frames: [0; 2],
            pace: Pace::default(),
        });
        self.take_path(number, &links, chosen.transfer_ns);
        self.install(number, Some(Departure::new(packet, out_port)));
    }

    /// Forwards the last segment of a subflow that is not known, without rules.
    fn pass_once(&mut self, packet: Received, ends: [PortRef; 2]) {
        let paths = self.paths.between(ends[0].datapath, ends[1].datapath);
        if paths.equal_cost.is_empty() {
            return;
        }
        self.send(
            ends[1].datapath,
            crate::messages::packet_out(&[ends[1].port], packet.data),
        );
    }

    /// The subflows of a connection as a policy sees them, but for one.
    pub(super) fn subflow_views(&self, connection: u64, but: Option<u64>) -> Vec<SubflowView> {
        let known = self.table.connection(connection);
        let numbers = known.map_or(&[][..], |known| &known.subflows);
        let others = numbers.iter().filter(|number| Some(**number) != but);
        let others = others.filter_map(|number| self.table.subflow(*number));
        others
            .map(|subflow| SubflowView {
                flow: subflow.flow,
                opener_at: subflow.ends[0],
                links: subflow.path.to_vec(),
            })
            .collect()
    }

    fn choose(&mut self, wanted: &Wanted<'_>) -> Choice {
        let [from, to] = wanted.ends;
        let paths = self.paths.between(from.datapath, to.datapath);
        if paths.equal_cost.is_empty() {
            return Choice::Unreachable;
        }
        let view = |path: &Path| self.path_view(path, wanted.ends);
        let disjoint: Vec<PathView> = paths.disjoint.iter().map(view).collect();
        let equal_cost: Vec<PathView> = paths.equal_cost.iter().map(view).collect();
        let request = Request {
            connection: wanted.connection,
            flow: wanted.flow,
            is_multipath: wanted.kind == Kind::Multipath,
            is_moved: wanted.is_moved,
            bytes: wanted.bytes,
            carried_bytes: wanted.carried_bytes,
            subflows: wanted.subflows,
            disjoint: &disjoint,
            equal_cost: &equal_cost,
        };
        if wanted.subflows.is_empty()
            && !wanted.is_moved
            && self.policy.waits_for_ends(&request)
            && let Some(cause) = self.ask_which_are_over(from.datapath, &disjoint)
        {
            return Choice::Asks(cause);
        }
        let transfer_ns = least_time_ns(wanted.bytes, &disjoint);
        let as_tcp = match wanted.may_fall_back {
            true => self.policy.as_tcp(&request),
            false => None,
        };
        let chosen = |path| {
            Choice::Path(Chosen {
                path,
                transfer_ns,
                falls_back: as_tcp.is_some(),
            })
        };
        match as_tcp.or_else(|| self.policy.choose(&request)) {
            Some(path) => chosen(Path::from(path.links.as_slice())),
            None if wanted.subflows.is_empty() || wanted.is_moved => {
                chosen(paths.equal_cost[0].clone())
            }
            None if self.policy.waits(&request) => Choice::Waits,
            None => Choice::Refused,
        }
    }

    /// Another path for a subflow that has one; `None`: there is none.
    pub(super) fn path_for(&mut self, number: u64) -> Option<Path> {
        let subflow = self.table.subflow(number)?.clone();
        let known = self.table.connection(subflow.connection)?;
        let (first, kind, bytes) = (known.flow, known.kind, known.expected_bytes);
        let subflows = self.subflow_views(subflow.connection, Some(number));
        let choice = self.choose(&Wanted {
            connection: first,
            flow: subflow.flow,
            ends: subflow.ends,
            kind,
            bytes,
            carried_bytes: self.carried_bytes(subflow.connection),
            subflows: &subflows,
            is_moved: true,
            may_fall_back: false,
        });
        match choice {
            Choice::Path(chosen) => Some(chosen.path),
            Choice::Refused | Choice::Waits | Choice::Asks(_) | Choice::Unreachable => None,
        }
    }

    /// The rate of a link: as measured, where that is much lower than told, or else as told.
    pub(crate) fn rate_bps(&self, link: &Link) -> Option<u64> {
        self.slow_bps(link).or_else(|| self.told_bps(link))
    }

    /// The rate of a link: known beforehand, or that of the slower of its ports.
    pub(crate) fn told_bps(&self, link: &Link) -> Option<u64> {
        let known = &self.config.link_rates_bps;
        let known = known.get(&link.from).or_else(|| known.get(&link.to));
        let ends = [self.port_rate_bps(link.from), self.port_rate_bps(link.to)];
        let known = known.copied().filter(|rate| *rate > 0);
        known.or_else(|| ends.into_iter().flatten().min())
    }

    /// The rate of a host's link.
    pub(crate) fn port_rate_bps(&self, at: PortRef) -> Option<u64> {
        let known = self.config.link_rates_bps.get(&at).copied();
        known.filter(|rate| *rate > 0).or_else(|| {
            let port = self.topology.port(at)?;
            Some(u64::from(port.description.curr_speed) * 1_000).filter(|rate| *rate > 0)
        })
    }
}

/// The time of a transfer over all paths at once; `None` where size or rates are not known.
fn least_time_ns(bytes: Option<u64>, paths: &[PathView]) -> Option<u64> {
    let rates_bps: Option<Vec<u64>> = paths.iter().map(|path| path.bandwidth_bps).collect();
    let together_bps: u128 = rates_bps?.into_iter().map(u128::from).sum();
    let bits = u128::from(bytes?) * 8;
    let time_ns = (bits * 1_000_000_000).checked_div(together_bps)?;
    u64::try_from(time_ns).ok()
}

/// The thing that a packet opens. Of several options the first that opens something counts.
fn opening(ip: &Ip) -> Opening {
    let Some(tcp) = ip.tcp.as_ref().filter(|tcp| tcp.is_opening()) else {
        return Opening::Other;
    };
    let opens = |option: &MptcpOption| match option {
        MptcpOption::Capable(capable) if capable.version == VERSION => Some(Opening::Connection),
        MptcpOption::Join(Join::Syn { token, .. }) => Some(Opening::Join(*token)),
        _ => None,
    };
    let mut options = tcp.options.mptcp.iter();
    options.find_map(opens).unwrap_or(Opening::Other)
}

/// Whether a packet ends a subflow.
fn is_last(ip: &Ip) -> bool {
    let flags = ip.tcp.as_ref().map(|tcp| tcp.flags);
    flags.is_some_and(|flags| flags.rst || flags.fin)
}

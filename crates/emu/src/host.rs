//! A node and its network manager: addresses, routes by source, and MPTCP endpoints, made again
//! whenever an interface or an address goes and comes.
//!
//! Each node has one thread that lives in its namespace. It does what a network manager does on a
//! laptop: an interface that loses its carrier or is set down loses its addresses, and with them
//! their rules, routes and endpoints; one that comes back has them again after its address delay.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::netlink::mptcp::PathManager;
use crate::netlink::route::{Events, Route, TABLE_MAIN, default_prefix, network};
use crate::netns::NetNs;
use crate::plan::{EndpointFlags, Interface, Node, Prefix};
use crate::record::Recorder;
use crate::sysctl;
use crate::telemetry::subflows;

/// Routing tables of the interfaces, by their place in the node.
const FIRST_TABLE: u32 = 1000;
/// Metric of the main table's routes of the first interface; the others follow.
const FIRST_METRIC: u32 = 100;
/// Address id of the additional subflows of one address pair: any but that of another address.
const PAIR_ADDRESS_ID: u8 = 1;

/// How long a returned address may stay without a subflow before one is tried for again.
const FIRST_REJOIN_PAUSE: Duration = Duration::from_millis(250);
/// Between the last two tries.
const LONGEST_REJOIN_PAUSE: Duration = Duration::from_secs(8);

/// A running node.
pub struct Host {
    /// Its namespace.
    pub netns: NetNs,
    /// Thread that lives in it, for those who want to enter it.
    pub thread_id: i32,
    commands: Sender<Command>,
    wake: Arc<EventFd>,
}

enum Command {
    Configure {
        recorder: Recorder,
        answer: Sender<io::Result<()>>,
    },
    SetUp {
        interface: usize,
        up: bool,
        answer: Sender<io::Result<()>>,
    },
    SetPlugged {
        interface: usize,
        plugged: bool,
        answer: Sender<io::Result<()>>,
    },
    SetBackup {
        interface: usize,
        backup: bool,
        answer: Sender<io::Result<()>>,
    },
}

impl Host {
    /// Makes the namespace and its settings. Its interfaces are made by others, then
    /// [`Host::configure`] is called.
    ///
    /// # Errors
    /// When the kernel refuses the namespace or one of the node's settings.
    pub fn start(node: &Node) -> io::Result<Self> {
        let (commands, inbox) = channel();
        let wake = Arc::new(EventFd::from_flags(
            EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC,
        )?);
        let (started, start) = channel();
        thread::Builder::new().name(node.name.clone()).spawn({
            let wake = Arc::clone(&wake);
            let node = node.clone();
            move || match prepare(&node) {
                Ok(netns) => {
                    started
                        .send(Ok((netns, nix::unistd::gettid().as_raw())))
                        .ok();
                    serve(&node, &inbox, &wake);
                }
                Err(error) => drop(started.send(Err(error))),
            }
        })?;
        let (netns, thread_id) = start.recv().map_err(io::Error::other)??;
        Ok(Self {
            netns,
            thread_id,
            commands,
            wake,
        })
    }

    /// Brings the node's interfaces up and gives them all that belongs to them, at once.
    ///
    /// # Errors
    /// When the kernel refuses an address, a route or an endpoint.
    pub fn configure(&self, recorder: &Recorder) -> io::Result<()> {
        self.ask(|answer| Command::Configure {
            recorder: recorder.clone(),
            answer,
        })
    }

    /// `ip link set … up|down` on interface number `interface`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_up(&self, interface: usize, up: bool) -> io::Result<()> {
        self.ask(|answer| Command::SetUp {
            interface,
            up,
            answer,
        })
    }

    /// The cable of interface number `interface` is pulled, or put back. The kernel notices a
    /// carrier that has gone only after some tens of milliseconds; the addresses go at once.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_plugged(&self, interface: usize, plugged: bool) -> io::Result<()> {
        self.ask(|answer| Command::SetPlugged {
            interface,
            plugged,
            answer,
        })
    }

    /// Changes the backup flag of the endpoints of interface number `interface`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn set_backup(&self, interface: usize, backup: bool) -> io::Result<()> {
        self.ask(|answer| Command::SetBackup {
            interface,
            backup,
            answer,
        })
    }

    fn ask(&self, command: impl FnOnce(Sender<io::Result<()>>) -> Command) -> io::Result<()> {
        let (answer, result) = channel();
        self.commands
            .send(command(answer))
            .map_err(io::Error::other)?;
        self.wake.write(1)?;
        result.recv().map_err(io::Error::other)?
    }
}

/// Moves the calling thread into a new namespace and sets its sysctls.
fn prepare(node: &Node) -> io::Result<NetNs> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    let netns = NetNs::current()?;
    let ipv6 = node
        .interfaces
        .iter()
        .flat_map(|i| &i.addresses)
        .any(|a| a.address.is_ipv6());
    let flag = |on: bool| if on { "1" } else { "0" };
    for scope in ["all", "default"] {
        sysctl::set(&format!("net.ipv4.conf.{scope}.rp_filter"), "0")?;
        if let Ok(kernel) = sysctl::get(&format!("net.ipv6.conf.{scope}.disable_ipv6")) {
            if kernel != flag(!ipv6) {
                sysctl::set(&format!("net.ipv6.conf.{scope}.disable_ipv6"), flag(!ipv6))?;
            }
            sysctl::set(&format!("net.ipv6.conf.{scope}.accept_dad"), "0")?;
            sysctl::set(&format!("net.ipv6.conf.{scope}.accept_ra"), "0")?;
            sysctl::set(&format!("net.ipv6.conf.{scope}.router_solicitations"), "0")?;
        }
    }
    if node.router {
        sysctl::set("net.ipv4.ip_forward", "1")?;
        if ipv6 {
            sysctl::set("net.ipv6.conf.all.forwarding", "1")?;
        }
    } else {
        set_mptcp(node, flag)?;
    }
    for (name, value) in &node.sysctls {
        sysctl::set(name, value)?;
    }
    let mut route = Route::open()?;
    for interface in route.interfaces()? {
        route.set_up(interface.index, true)?;
    }
    Ok(netns)
}

fn set_mptcp(node: &Node, flag: impl Fn(bool) -> &'static str) -> io::Result<()> {
    let mptcp = &node.mptcp;
    if sysctl::get("net.mptcp.enabled").is_err() {
        // The variants that need it are refused before they start.
        return Ok(());
    }
    sysctl::set("net.mptcp.enabled", flag(mptcp.enabled))?;
    sysctl::set("net.mptcp.checksum_enabled", flag(mptcp.checksum))?;
    if let Some(retries) = mptcp.syn_retries {
        sysctl::set(
            "net.mptcp.syn_retrans_before_tcp_fallback",
            &retries.to_string(),
        )?;
    }
    if let Some(scheduler) = &mptcp.scheduler {
        let available = sysctl::get("net.mptcp.available_schedulers").unwrap_or_default();
        sysctl::set("net.mptcp.scheduler", scheduler).map_err(|_| {
            io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "this kernel has no MPTCP scheduler '{scheduler}' (it has: {available}): use \
                     one of these"
                ),
            )
        })?;
    }
    if mptcp.subflows_per_pair > 1 {
        sysctl::set("net.mptcp.path_manager", "userspace")
            .or_else(|_| sysctl::set("net.mptcp.pm_type", "1"))?;
    }
    Ok(())
}

/// Obeys commands and follows the kernel's events until the [`Host`] is gone.
fn serve(node: &Node, inbox: &Receiver<Command>, wake: &EventFd) {
    let Ok(Command::Configure { recorder, answer }) = inbox.recv() else {
        return;
    };
    let mut manager = match Manager::new(node, recorder) {
        Ok(manager) => manager,
        Err(error) => return drop(answer.send(Err(error))),
    };
    answer.send(Ok(())).ok();
    loop {
        let woken = match manager.sleep(wake) {
            Ok(woken) => woken,
            Err(error) => {
                return manager.warn(&format!("the network manager stopped: {error}"));
            }
        };
        // What the kernel refuses once may go the next time.
        if let Err(error) = manager.act(woken) {
            manager.warn(&error.to_string());
        }
        wake.read().ok();
        loop {
            use std::sync::mpsc::TryRecvError;
            match inbox.try_recv() {
                Ok(command) => manager.obey(command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }
}

/// What the manager knows of one interface.
struct Managed {
    index: u32,
    running: bool,
    /// Its cable was not pulled.
    plugged: bool,
    /// When its addresses come back.
    due: Option<Instant>,
    /// Addresses whose rules, routes and endpoints stand.
    served: Vec<Prefix>,
    /// The backup flag of its endpoints, where an event has set it.
    backup: Option<bool>,
    /// When its returned addresses must have a subflow, and how long they had for it.
    rejoin: Option<(Instant, Duration)>,
}

/// What ended a manager's sleep, beside its clock and its commands.
#[derive(Clone, Copy, Default)]
struct Woken {
    links_changed: bool,
    connected: bool,
}

struct Manager<'a> {
    node: &'a Node,
    recorder: Recorder,
    route: Route,
    events: Events,
    path_manager: Option<PathManager>,
    /// Events of the connections, where subflows are opened through them.
    connections: Option<PathManager>,
    managed: Vec<Managed>,
}

impl<'a> Manager<'a> {
    /// Takes over the node's interfaces and brings them up.
    fn new(node: &'a Node, recorder: Recorder) -> io::Result<Self> {
        let mut route = Route::open()?;
        let indices: BTreeMap<String, u32> = route
            .interfaces()?
            .into_iter()
            .map(|i| (i.name, i.index))
            .collect();
        let managed = node
            .interfaces
            .iter()
            .map(|interface| {
                let index = *indices.get(&interface.name).ok_or_else(|| {
                    io::Error::other(format!("{}.{} is missing", node.name, interface.name))
                })?;
                Ok(Managed {
                    index,
                    running: false,
                    plugged: true,
                    due: None,
                    served: Vec::new(),
                    backup: None,
                    rejoin: None,
                })
            })
            .collect::<io::Result<_>>()?;
        let events = Events::open()?;
        let mut path_manager = if node.router || !node.mptcp.enabled {
            None
        } else {
            match PathManager::open() {
                Ok(path_manager) => Some(path_manager),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            }
        };
        if let Some(path_manager) = &mut path_manager {
            path_manager.set_limits(
                node.mptcp.limit_subflows,
                node.mptcp.limit_add_addr_accepted,
            )?;
        }
        let connections = if node.mptcp.subflows_per_pair > 1 && path_manager.is_some() {
            let mut connections = PathManager::open()?;
            connections.subscribe()?;
            Some(connections)
        } else {
            None
        };
        let mut manager = Self {
            node,
            recorder,
            route,
            events,
            path_manager,
            connections,
            managed,
        };
        for interface in 0..manager.managed.len() {
            manager
                .route
                .set_up(manager.managed[interface].index, true)?;
            manager.managed[interface].running = true;
            manager.add_addresses(interface)?;
        }
        manager.follow()?;
        Ok(manager)
    }

    /// Sleeps until there is something to do.
    fn sleep(&self, wake: &EventFd) -> io::Result<Woken> {
        let deadlines = self
            .managed
            .iter()
            .flat_map(|managed| [managed.due, managed.rejoin.map(|(due, _)| due)]);
        let timeout = deadlines.flatten().min().map_or(PollTimeout::NONE, |due| {
            let span = due.saturating_duration_since(Instant::now());
            // Rounded up: waking early would only spin.
            let milliseconds = span.as_micros().div_ceil(1000);
            PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
        });
        let mut ready = vec![
            PollFd::new(wake.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.events.as_fd(), PollFlags::POLLIN),
        ];
        if let Some(connections) = &self.connections {
            ready.push(PollFd::new(connections.as_fd(), PollFlags::POLLIN));
        }
        match poll(&mut ready, timeout) {
            Ok(_) => Ok(Woken {
                links_changed: ready[1].any().unwrap_or(false),
                connected: ready.get(2).and_then(PollFd::any).unwrap_or(false),
            }),
            Err(Errno::EINTR) => Ok(Woken::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Does what the kernel's events and the clock ask.
    fn act(&mut self, woken: Woken) -> io::Result<()> {
        if woken.links_changed {
            self.events.drain()?;
            self.follow()?;
        }
        if woken.connected {
            self.open_subflows();
        }
        let now = Instant::now();
        for interface in 0..self.managed.len() {
            if self.managed[interface].due.is_some_and(|due| due <= now) {
                self.managed[interface].due = None;
                self.add_addresses(interface)?;
                self.follow()?;
                self.managed[interface].rejoin =
                    Some((now + FIRST_REJOIN_PAUSE, FIRST_REJOIN_PAUSE));
            }
            if let Some((due, pause)) = self.managed[interface].rejoin
                && due <= now
            {
                self.managed[interface].rejoin = None;
                self.rejoin(interface, pause)?;
            }
        }
        Ok(())
    }

    /// Makes the connections use an address that has come back: tries a few times, ever more
    /// rarely, for a quarter of a minute.
    ///
    /// For a `fullmesh` endpoint the kernel opens subflows, once, to those addresses that other
    /// subflows are using just then, which may all be out of reach from here; for a plain one to
    /// the address to which the connection was opened. What fails is not tried again. So the
    /// endpoint changes between the two until something has joined. (To delete it and add another
    /// would let the peer close the new subflow: the REMOVE_ADDR may arrive after the join.)
    ///
    /// A `signal` endpoint is announced once, over a subflow that may just have died, and again
    /// after two minutes. It is made anew until the peer has joined it.
    ///
    /// One connection that uses the address ends the tries: another would close its subflow.
    fn rejoin(&mut self, interface: usize, pause: Duration) -> io::Result<()> {
        let Some(path_manager) = self.path_manager.as_mut() else {
            return Ok(());
        };
        let in_use = subflows::in_use()?;
        if in_use.connections == 0 {
            return Ok(());
        }
        let wanted = self.node.interfaces[interface].endpoint.unwrap_or_default();
        let managed = &mut self.managed[interface];
        for endpoint in path_manager.endpoints()? {
            let is_here = managed
                .served
                .iter()
                .any(|prefix| prefix.address == endpoint.address);
            if !is_here || in_use.local_addresses.contains(&endpoint.address) {
                continue;
            }
            if wanted.fullmesh {
                let fullmesh = !endpoint.flags.fullmesh;
                path_manager.set_flags(
                    &endpoint,
                    EndpointFlags {
                        fullmesh,
                        ..endpoint.flags
                    },
                )?;
            } else if wanted.signal {
                path_manager.delete_endpoint(&endpoint)?;
                path_manager.add_endpoint(endpoint.address, endpoint.flags)?;
            }
            let next = pause * 2;
            managed.rejoin = (next <= LONGEST_REJOIN_PAUSE).then(|| (Instant::now() + next, next));
        }
        Ok(())
    }

    fn obey(&mut self, command: Command) {
        let (result, answer) = match command {
            Command::SetUp {
                interface,
                up,
                answer,
            } => (self.set_up(interface, up), answer),
            Command::SetPlugged {
                interface,
                plugged,
                answer,
            } => (self.set_plugged(interface, plugged), answer),
            Command::SetBackup {
                interface,
                backup,
                answer,
            } => (self.set_backup(interface, backup), answer),
            Command::Configure { answer, .. } => (Ok(()), answer),
        };
        answer.send(result).ok();
    }

    fn set_up(&mut self, interface: usize, up: bool) -> io::Result<()> {
        if !up {
            self.set_running(interface, false)?;
            self.follow_addresses()?;
        }
        self.route.set_up(self.managed[interface].index, up)
    }

    fn set_plugged(&mut self, interface: usize, plugged: bool) -> io::Result<()> {
        self.managed[interface].plugged = plugged;
        self.follow()
    }

    /// Compares the kernel's interfaces and addresses with what is served, and makes up for the
    /// difference.
    fn follow(&mut self) -> io::Result<()> {
        let links = self.route.interfaces()?;
        for interface in 0..self.managed.len() {
            let Managed { index, plugged, .. } = self.managed[interface];
            let running = links.iter().any(|link| link.index == index && link.running);
            self.set_running(interface, running && plugged)?;
        }
        self.follow_addresses()
    }

    /// An interface that stops loses its addresses; one that runs again has them after a while.
    fn set_running(&mut self, interface: usize, running: bool) -> io::Result<()> {
        if running == self.managed[interface].running {
            return Ok(());
        }
        self.managed[interface].running = running;
        if running {
            let delay = Duration::from_nanos(self.interface(interface).address_delay_ns);
            self.managed[interface].due = Some(Instant::now() + delay);
            return Ok(());
        }
        self.managed[interface].due = None;
        self.managed[interface].rejoin = None;
        for prefix in &self.interface(interface).addresses {
            self.route
                .delete_address(self.managed[interface].index, *prefix)?;
        }
        Ok(())
    }

    /// Serves the addresses that have come, and forgets those that have gone.
    fn follow_addresses(&mut self) -> io::Result<()> {
        let present = self.route.addresses()?;
        for interface in 0..self.managed.len() {
            let index = self.managed[interface].index;
            for prefix in &self.interface(interface).addresses {
                let present = present.contains(&(index, prefix.address));
                let served = self.managed[interface].served.contains(prefix);
                if present && !served {
                    self.serve_address(interface, *prefix)?;
                    self.managed[interface].served.push(*prefix);
                    self.event(
                        "address",
                        interface,
                        &format!("{} is usable", prefix.address),
                    );
                } else if served && !present {
                    self.managed[interface]
                        .served
                        .retain(|other| other != prefix);
                    self.forget_address(interface, *prefix)?;
                    self.event(
                        "address",
                        interface,
                        &format!("{} has gone", prefix.address),
                    );
                }
            }
        }
        Ok(())
    }

    fn add_addresses(&mut self, interface: usize) -> io::Result<()> {
        for prefix in &self.interface(interface).addresses {
            self.route
                .add_address(self.managed[interface].index, *prefix)
                .map_err(|error| {
                    io::Error::new(
                        error.kind(),
                        format!(
                            "{}: address {}: {error}",
                            self.subject(interface),
                            prefix.address
                        ),
                    )
                })?;
        }
        Ok(())
    }

    /// Rule, routes and endpoint of an address that has come.
    fn serve_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
        let index = self.managed[interface].index;
        let same_family = |address: &IpAddr| address.is_ipv4() == prefix.address.is_ipv4();
        let gateway = self
            .interface(interface)
            .gateways
            .iter()
            .copied()
            .find(same_family);
        let table = FIRST_TABLE + interface as u32;
        let metric = FIRST_METRIC + interface as u32;
        self.route
            .add_route(table, network(prefix), None, Some(index), 0)?;
        if let Some(gateway) = gateway {
            let everything = default_prefix(prefix.address);
            self.route
                .add_route(table, everything, Some(gateway), Some(index), 0)?;
            self.route
                .add_route(TABLE_MAIN, everything, Some(gateway), Some(index), metric)?;
        }
        for route in &self.node.routes {
            if same_family(&route.via) && contains(prefix, route.via) {
                let (to, via) = (route.to, Some(route.via));
                self.route
                    .add_route(TABLE_MAIN, to, via, Some(index), metric)?;
                if !self.node.router {
                    self.route.add_route(table, to, via, Some(index), 0)?;
                }
            }
        }
        if !self.node.router {
            // What comes from this address leaves by its interface or not at all: a subflow that
            // took another path under this address would make two paths look like one.
            self.route.add_unreachable(table, prefix.address)?;
            self.route.add_source_rule(prefix.address, table)?;
        }
        let flags = self.endpoint_flags(interface);
        if let (Some(path_manager), Some(flags)) = (&mut self.path_manager, flags) {
            path_manager
                .add_endpoint(prefix.address, flags)
                .map_err(|error| {
                    io::Error::new(
                        error.kind(),
                        format!("MPTCP endpoint {} ({flags:?}): {error}", prefix.address),
                    )
                })?;
        }
        Ok(())
    }

    /// Takes away what an address that has gone leaves behind; the kernel removes its routes.
    fn forget_address(&mut self, interface: usize, prefix: Prefix) -> io::Result<()> {
        self.route
            .delete_source_rule(prefix.address, FIRST_TABLE + interface as u32)?;
        if let Some(path_manager) = &mut self.path_manager {
            for endpoint in path_manager.endpoints()? {
                if endpoint.address == prefix.address {
                    path_manager.delete_endpoint(&endpoint)?;
                }
            }
        }
        Ok(())
    }

    /// Changes the backup flag of an interface's endpoints, also of those that are still to come.
    fn set_backup(&mut self, interface: usize, backup: bool) -> io::Result<()> {
        self.managed[interface].backup = Some(backup);
        let subject = self.subject(interface);
        let addresses = &self.node.interfaces[interface].addresses;
        let none = || io::Error::other(format!("{subject} has no MPTCP endpoint"));
        self.endpoint_flags(interface).ok_or_else(none)?;
        let path_manager = self.path_manager.as_mut().ok_or_else(none)?;
        for endpoint in path_manager.endpoints()? {
            if addresses
                .iter()
                .any(|prefix| prefix.address == endpoint.address)
            {
                path_manager.set_flags(
                    &endpoint,
                    EndpointFlags {
                        backup,
                        ..endpoint.flags
                    },
                )?;
            }
        }
        Ok(())
    }

    /// The flags of an interface's endpoints as they are wanted now.
    fn endpoint_flags(&self, interface: usize) -> Option<EndpointFlags> {
        let planned = self.interface(interface).endpoint?;
        let backup = self.managed[interface].backup.unwrap_or(planned.backup);
        Some(EndpointFlags { backup, ..planned })
    }

    /// Opens the additional subflows of each connection that has just become established
    /// (`ndiffports`).
    fn open_subflows(&mut self) {
        let (Some(connections), Some(path_manager)) =
            (&mut self.connections, &mut self.path_manager)
        else {
            return;
        };
        let mut trouble = Vec::new();
        match connections.established() {
            Ok(established) => {
                for connection in established {
                    for _ in 1..self.node.mptcp.subflows_per_pair {
                        if let Err(error) =
                            path_manager.create_subflow(&connection, PAIR_ADDRESS_ID)
                        {
                            trouble.push(format!("no further subflow could be opened: {error}"));
                        }
                    }
                }
            }
            Err(error) => trouble.push(format!("the connections' events are lost: {error}")),
        }
        trouble.iter().for_each(|text| self.warn(text));
    }

    fn interface(&self, interface: usize) -> &'a Interface {
        &self.node.interfaces[interface]
    }

    fn subject(&self, interface: usize) -> String {
        format!("{}.{}", self.node.name, self.interface(interface).name)
    }

    fn event(&self, kind: &str, interface: usize, label: &str) {
        self.recorder.event(kind, &self.subject(interface), label);
    }

    fn warn(&self, text: &str) {
        self.recorder.warn(&format!("{}: {text}", self.node.name));
    }
}

/// True when `address` lies in the network of `prefix`.
fn contains(prefix: Prefix, address: IpAddr) -> bool {
    network(Prefix {
        address,
        length: prefix.length,
    }) == network(prefix)
}

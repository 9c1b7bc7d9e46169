//! Open vSwitch: its datapath in user space, a database and a daemon for all bridges of a run, in a
//! namespace of their own.
//!
//! The datapath is of the class `dummy`, which is that of the class `netdev` but for the ports that
//! bridges themselves have: those of the latter are devices of `/dev/net/tun`, which ordinary users
//! may not open *(tried, 3.1.0)*. All other ports are real interfaces.

use std::env;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_linux::describe;
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::rtnetlink::Rtnetlink;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::controller::PORT;
use crate::isolate::SCRATCH;
use crate::netns::NetNs;
use crate::plan::{InterfaceRef, Plan};
use crate::record::Recorder;
use crate::sysctl;

/// Time that each step of the start may take.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of a log that an error tells.
const LAST_WORDS: usize = 2000;
const DATABASE: &str = "unix:db.sock";

/// The daemons at work.
pub struct OpenVSwitch {
    folder: PathBuf,
    daemons: Vec<(&'static str, Child)>,
}

/// A namespace for the bridges of a plan, if it has some.
///
/// # Errors
/// When the kernel refuses it.
pub fn namespace(plan: &Plan) -> io::Result<Option<NetNs>> {
    if !plan.nodes.iter().any(crate::plan::Node::is_bridge) {
        return Ok(None);
    }
    let netns = NetNs::create()?;
    netns.run(|| {
        for scope in ["all", "default"] {
            // The bridges' ports have no addresses, and send nothing of their own.
            let name = format!("net.ipv6.conf.{scope}.disable_ipv6");
            if sysctl::get(&name).is_ok() {
                sysctl::set(&name, "1")?;
            }
        }
        io::Result::Ok(())
    })??;
    Ok(Some(netns))
}

/// The address in the namespace of the bridges to which the bridge of a node connects: each has one
/// of its own, by which it is known.
pub fn controller_of(node: usize) -> SocketAddrV4 {
    let [_, high, middle, low] = (node as u32 + 1).to_be_bytes();
    SocketAddrV4::new(Ipv4Addr::new(127, high, middle, low), PORT)
}

impl OpenVSwitch {
    /// Starts it in a namespace that has an interface for each port of each bridge, by the names
    /// that `port_name` gives.
    ///
    /// # Errors
    /// When a program is missing or fails, with the end of its log.
    pub fn start(
        plan: &Plan,
        netns: &NetNs,
        port_name: impl Fn(InterfaceRef) -> Option<String> + Sync,
    ) -> io::Result<Self> {
        let folder = Path::new(SCRATCH).join("openvswitch");
        fs::create_dir(&folder)?;
        let mut started = Self {
            folder,
            daemons: Vec::new(),
        };
        netns.run(|| {
            set_all_up()?;
            started.run(&["ovsdb-tool", "create", "db"])?;
            started.spawn("ovsdb-server", &["db", "--remote=punix:db.sock"])?;
            started.await_file("db.sock")?;
            let database = format!("--db={DATABASE}");
            started.run(&["ovs-vsctl", &database, "--no-wait", "init"])?;
            started.spawn(
                "ovs-vswitchd",
                &[DATABASE, "--disable-system", "--enable-dummy"],
            )?;
            let limit = format!("--timeout={}", PATIENCE.as_secs());
            let mut orders = vec!["ovs-vsctl".to_owned(), database, limit];
            // By default a frame has one tag at most.
            orders.extend(words("set Open_vSwitch . other_config:vlan-limit=2"));
            for (node, planned) in plan.nodes.iter().enumerate() {
                if planned.is_bridge() {
                    orders.extend(bridge_orders(plan, node, &port_name));
                }
            }
            let orders: Vec<&str> = orders.iter().map(String::as_str).collect();
            started.run(&orders)
        })??;
        Ok(started)
    }

    /// Ends it, with a warning where it has ended by itself.
    pub fn end(mut self, recorder: &Recorder) {
        for (program, child) in &mut self.daemons {
            if let Ok(Some(status)) = child.try_wait() {
                let said = last_words(&self.folder.join(*program));
                recorder.warn(&format!(
                    "{program} ended during the run ({status}): {said}"
                ));
            }
            // Nothing of theirs is kept: their files are the lab's own.
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            child.wait().ok();
        }
        fs::remove_dir_all(&self.folder).ok();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = env::var("PATH").unwrap_or_default();
        // Ordinary users may lack it.
        command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
        for name in ["OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"] {
            command.env(name, &self.folder);
        }
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> io::Result<()> {
        let done = self
            .command(words[0])
            .args(&words[1..])
            .output()
            .map_err(|error| refused(words[0], &describe(&error)))?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let daemons = self.daemons.iter();
        let logs = daemons.map(|(program, _)| last_words(&self.folder.join(program)));
        let logs: Vec<String> = logs.collect();
        Err(refused(words[0], &format!("{said}{}", logs.concat())))
    }

    fn spawn(&mut self, program: &'static str, arguments: &[&str]) -> io::Result<()> {
        let log = File::create(self.folder.join(program))?;
        let child = self
            .command(program)
            .args(arguments)
            .arg(format!("--unixctl={program}.ctl"))
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(|error| refused(program, &describe(&error)))?;
        self.daemons.push((program, child));
        Ok(())
    }

    fn await_file(&self, name: &str) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !self.folder.join(name).exists() {
            if Instant::now() >= deadline {
                let said = last_words(&self.folder.join("ovsdb-server"));
                return Err(refused("ovsdb-server", &said));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// The orders that make the bridge of a node, with its ports and its controller.
fn bridge_orders(
    plan: &Plan,
    node: usize,
    port_name: impl Fn(InterfaceRef) -> Option<String>,
) -> Vec<String> {
    let planned = &plan.nodes[node];
    let bridge = format!("br{node}");
    let datapath = planned.switch.map_or(0, |switch| switch.datapath_id);
    let mut orders = words(&format!(
        "-- add-br {bridge} -- set bridge {bridge} datapath_type=dummy protocols=OpenFlow13 \
         fail_mode=secure other_config:datapath-id={datapath:016x} \
         other_config:dp-desc={name} other_config:disable-in-band=true",
        name = planned.name,
    ));
    for interface in 0..planned.interfaces.len() {
        if let Some(port) = port_name(InterfaceRef { node, interface }) {
            let number = interface + 1;
            orders.extend(words(&format!(
                "-- add-port {bridge} {port} -- set interface {port} ofport_request={number}"
            )));
        }
    }
    if plan.controller.is_some() {
        let address = controller_of(node);
        orders.extend(words(&format!(
            "-- set-controller {bridge} tcp:{address} -- set controller {bridge} max_backoff=1000 \
             connection_mode=out-of-band"
        )));
    }
    orders
}

fn words(orders: &str) -> Vec<String> {
    orders.split(' ').map(str::to_owned).collect()
}

fn set_all_up() -> io::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    let interfaces = Interfaces::open()?.interfaces()?;
    interfaces
        .into_iter()
        .try_for_each(|interface| rtnetlink.set_up(interface.index, true))
}

fn refused(program: &str, why: &str) -> io::Error {
    io::Error::other(format!(
        "Open vSwitch cannot be run: {program}: {}",
        why.trim()
    ))
}

/// The end of a log.
fn last_words(log: &Path) -> String {
    let said = fs::read(log).unwrap_or_default();
    String::from_utf8_lossy(&said[said.len().saturating_sub(LAST_WORDS)..]).into_owned()
}

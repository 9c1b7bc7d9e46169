//! The namespace of a node, with its settings.

use std::collections::HashSet;
use std::io;

use mptcplab_linux::interfaces::Interfaces;
use mptcplab_linux::rtnetlink::Rtnetlink;
use mptcplab_linux::userspace_pm::UserspacePm;
use nix::sched::{CloneFlags, unshare};

use crate::netns::NetNs;
use crate::plan;
use crate::sysctl;

/// Moves the calling thread into a new namespace and sets its sysctls; those of ARP where the node
/// is on a segment of links that switches join.
pub(super) fn prepare(node: &plan::Node, flow_seed: u32, is_on_segment: bool) -> io::Result<NetNs> {
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
    if is_on_segment {
        // An address is its interface's alone, not the node's: several may be on one segment.
        sysctl::set("net.ipv4.conf.all.arp_ignore", "1")?;
        sysctl::set("net.ipv4.conf.all.arp_announce", "2")?;
    }
    if node.router {
        sysctl::set("net.ipv4.ip_forward", "1")?;
        if ipv6 {
            sysctl::set("net.ipv6.conf.all.forwarding", "1")?;
        }
        set_multipath(node, ipv6, flow_seed)?;
    } else {
        set_mptcp(node, flag)?;
    }
    for (name, value) in &node.sysctls {
        sysctl::set(name, value)?;
    }
    let mut rtnetlink = Rtnetlink::open()?;
    for interface in Interfaces::open()?.interfaces()? {
        rtnetlink.set_up(interface.index, true)?;
    }
    Ok(netns)
}

/// Divides flows among a router's equal ways by addresses, protocol and ports, and lets no two routers
/// divide them alike.
fn set_multipath(node: &plan::Node, ipv6: bool, flow_seed: u32) -> io::Result<()> {
    const BY_PORTS_TOO: &str = "1";
    let mut networks = HashSet::new();
    if node
        .routes
        .iter()
        .all(|route| networks.insert(route.to.network()))
    {
        return Ok(());
    }
    sysctl::set("net.ipv4.fib_multipath_hash_policy", BY_PORTS_TOO)?;
    if ipv6 {
        sysctl::set("net.ipv6.fib_multipath_hash_policy", BY_PORTS_TOO)?;
    }
    sysctl::set("net.ipv4.fib_multipath_hash_seed", &flow_seed.to_string())
}

fn set_mptcp(node: &plan::Node, flag: impl Fn(bool) -> &'static str) -> io::Result<()> {
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
    if mptcp.subflows_per_pair > 1 || mptcp.by_application {
        UserspacePm::select()?.keep();
    }
    Ok(())
}

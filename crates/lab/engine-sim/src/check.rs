//! The check of a plan: one that cannot be simulated is refused with the name of the part.

use std::net::IpAddr;

use mptcplab_plan::{Action, InterfaceRef, Middlebox, Plan, Traffic, Workload};

use crate::error::SimError;

/// Ports of a host, which connections and subflows need.
const PORTS: u32 = 65_535;

/// Checks what the rest of the engine relies on.
pub(crate) fn check(plan: &Plan) -> Result<(), SimError> {
    for node in &plan.nodes {
        if node.is_bridge() {
            let problem = "Open vSwitch is a program: virtual time does not wait for it";
            return Err(SimError::refused(format!("node {}", node.name), problem));
        }
        if node.mptcp.subflows_per_pair > PORTS {
            let problem = "it has 65,535 ports for subflows_per_pair";
            return Err(SimError::refused(format!("node {}", node.name), problem));
        }
    }
    let another = plan.controller.as_ref();
    if another.is_some_and(|controller| controller.policy.is_none()) {
        let problem = "it is a program or at an address: virtual time waits for neither";
        return Err(SimError::refused("the controller", problem));
    }
    let mut used: Vec<InterfaceRef> = Vec::new();
    for link in &plan.links {
        let name = format!("link {}", link.name);
        for &end in &link.ends {
            check_interface(plan, &name, end)?;
            if used.contains(&end) {
                return Err(SimError::refused(
                    name,
                    "its interface is an end of another link",
                ));
            }
            used.push(end);
        }
        let has_switch = link
            .ends
            .iter()
            .any(|end| plan.nodes[end.node].switch.is_some());
        if has_switch && !link.middleboxes.is_empty() {
            return Err(SimError::refused(
                name,
                "a link at a switch has no middleboxes",
            ));
        }
        for middlebox in &link.middleboxes {
            check_middlebox(&name, middlebox)?;
        }
    }
    plan.traffic
        .iter()
        .try_for_each(|traffic| check_traffic(plan, traffic))?;
    for event in &plan.events {
        let what = format!("event '{}'", event.label);
        match &event.action {
            Action::Link { link, .. } => check_index(&what, *link, "links", plan.links.len())?,
            Action::Interface { interface, .. } | Action::Backup { interface, .. } => {
                check_interface(plan, &what, *interface)?;
            }
            Action::Subflow {
                traffic,
                source,
                target,
                ..
            } => {
                check_index(&what, *traffic, "traffic", plan.traffic.len())?;
                check_families(&what, *source, *target)?;
            }
        }
    }
    let captured = plan.capture.iter().flat_map(|capture| &capture.interfaces);
    for &interface in captured {
        check_interface(plan, "the capture", interface)?;
    }
    Ok(())
}

fn check_index(what: &str, index: usize, of: &'static str, count: usize) -> Result<(), SimError> {
    if index < count {
        return Ok(());
    }
    let problem = format!("there is no number {index} among {count} {of}");
    Err(SimError::refused(what, problem))
}

fn check_interface(plan: &Plan, what: &str, of: InterfaceRef) -> Result<(), SimError> {
    check_index(what, of.node, "nodes", plan.nodes.len())?;
    let interfaces = plan.nodes[of.node].interfaces.len();
    check_index(what, of.interface, "interfaces", interfaces)
}

fn check_families(what: &str, source: IpAddr, target: IpAddr) -> Result<(), SimError> {
    if source.is_ipv4() == target.is_ipv4() {
        return Ok(());
    }
    let problem = format!("{source} and {target} are addresses of two families");
    Err(SimError::refused(what, problem))
}

fn check_middlebox(link: &str, middlebox: &Middlebox) -> Result<(), SimError> {
    let what = format!("a middlebox of {link}");
    match middlebox {
        &Middlebox::Nat { inside: end, .. } | &Middlebox::ProxyAck { sender: end } => {
            check_index(&what, end, "ends", 2)
        }
        _ => Ok(()),
    }
}

fn check_traffic(plan: &Plan, traffic: &Traffic) -> Result<(), SimError> {
    let name = format!("traffic {}", traffic.name);
    check_index(&name, traffic.client, "nodes", plan.nodes.len())?;
    check_index(&name, traffic.server, "nodes", plan.nodes.len())?;
    if let Some(source) = traffic.source {
        check_families(&name, source, traffic.target)?;
    }
    let refuse = |problem| Err(SimError::refused(&name, problem));
    let [client, server] = [traffic.client, traffic.server].map(|node| &plan.nodes[node]);
    if !client.is_host() || !server.is_host() {
        return refuse("its client and its server must be hosts");
    }
    match traffic.workload {
        Workload::Command { .. } => refuse("commands need the kernel engine"),
        _ if traffic.client == traffic.server => refuse("its client is its server"),
        Workload::Bulk { streams, .. } if streams > PORTS => {
            refuse("a client has 65,535 ports for its streams")
        }
        Workload::Stream { frame_bytes: 0, .. } => refuse("frames have at least one byte"),
        Workload::RequestResponse(requests) if requests.request_bytes == 0 => {
            refuse("a request has at least one byte")
        }
        Workload::Datagrams { packet_bytes, .. } if packet_bytes > 65_535 => {
            refuse("a packet has at most 65,535 bytes")
        }
        Workload::Ping { payload_bytes, .. } if payload_bytes > 65_000 => {
            refuse("a ping has at most 65,000 bytes")
        }
        _ => Ok(()),
    }
}

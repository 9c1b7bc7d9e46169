//! The actions of a plan's events.

use mptcplab_plan::Action;

use crate::network::Network;
use crate::traffic::Flow;

/// Carries out an action.
///
/// # Errors
/// The reason of the link model or of the host.
pub(crate) fn act(network: &mut Network, flows: &[Flow], action: &Action) -> Result<(), String> {
    match *action {
        Action::Link {
            link,
            ref change,
            carrier,
        } => {
            let now = network.now;
            let changed = &mut network.links[link];
            // First the link: what a host sends the moment its carrier is back finds it up.
            changed
                .change(now, change)
                .map_err(|error| error.to_string())?;
            let ends = changed.ends;
            network.reschedule_link(link);
            for of in carrier.map_or(&[][..], |_| &ends) {
                let carrier = carrier == Some(true);
                let change = network.nodes[of.node].set_carrier(now, of.interface, carrier);
                network.follow(of.node, change);
                network.set_port(of.node, of.interface, carrier);
            }
            Ok(())
        }
        Action::Interface { interface: of, up } => {
            let change = network.nodes[of.node].set_up(network.now, of.interface, up);
            network.follow(of.node, change);
            Ok(())
        }
        Action::Backup {
            interface: of,
            backup,
        } => {
            let node = &mut network.nodes[of.node];
            let has_endpoint = node.set_backup(of.interface, backup);
            let subject = node.interfaces[of.interface].subject.clone();
            network.set_addresses(of.node);
            match has_endpoint {
                true => Ok(()),
                false => Err(format!("{subject} has no MPTCP endpoint")),
            }
        }
        Action::Subflow {
            traffic,
            source,
            target,
            open,
        } => {
            let flow = &flows[traffic];
            let remote = (target, flow.traffic().port).into();
            for id in flow.client_connections() {
                let node = flow.traffic().client;
                if open {
                    network.open_subflow(node, id, source, remote)?;
                } else {
                    network.close_subflow(node, id, source, remote)?;
                }
            }
            Ok(())
        }
    }
}

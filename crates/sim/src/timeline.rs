//! The events of a plan, each at its time.

use mptcplab_plan::{Action, InterfaceRef, Plan};

use crate::application::Item;
use crate::core::Core;

/// Carries out an event.
///
/// # Errors
/// Says what the model or the host refuses.
pub(crate) fn act(core: &mut Core, items: &[Item], action: &Action) -> Result<(), String> {
    match *action {
        Action::Link {
            link,
            ref change,
            carrier,
        } => {
            let now = core.now;
            let line = &mut core.lines[link];
            // First the link: what a host sends the moment its carrier is back finds it up.
            line.model
                .change(now, change)
                .map_err(|error| error.to_string())?;
            let ends = line.ends;
            core.refresh_line(link);
            for of in carrier.map_or(&[][..], |_| &ends) {
                let carrier = carrier == Some(true);
                let change = core.nodes[of.node].set_carrier(now, of.interface, carrier);
                core.follow(of.node, change);
            }
            Ok(())
        }
        Action::Interface { interface: of, up } => {
            let change = core.nodes[of.node].set_up(core.now, of.interface, up);
            core.follow(of.node, change);
            Ok(())
        }
        Action::Backup {
            interface: of,
            backup,
        } => {
            let node = &mut core.nodes[of.node];
            let has_endpoint = node.set_backup(of.interface, backup);
            let subject = node.interfaces[of.interface].subject.clone();
            core.set_addresses(of.node);
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
            let item = &items[traffic];
            let remote = (target, item.traffic().port).into();
            for id in item.client_connections() {
                let node = item.traffic().client;
                if open {
                    core.open_subflow(node, id, source, remote)?;
                } else {
                    core.close_subflow(node, id, source, remote)?;
                }
            }
            Ok(())
        }
    }
}

/// Kind and subject of an event's row.
pub(crate) fn describe(plan: &Plan, action: &Action) -> (&'static str, String) {
    match action {
        Action::Link { link, .. } => ("link", plan.links[*link].name.clone()),
        Action::Interface { interface, .. } => ("interface", subject(plan, *interface)),
        Action::Backup { interface, .. } => ("backup", subject(plan, *interface)),
        Action::Subflow { traffic, .. } => ("subflow", plan.traffic[*traffic].name.clone()),
    }
}

fn subject(plan: &Plan, of: InterfaceRef) -> String {
    let node = &plan.nodes[of.node];
    format!("{}.{}", node.name, node.interfaces[of.interface].name)
}

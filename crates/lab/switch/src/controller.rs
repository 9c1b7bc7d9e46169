//! Connections of controllers: roles, and the asynchronous messages that each gets (sections 6.3.6
//! and 7.3.9).

use mptcplab_openflow::ErrorKind;
use mptcplab_openflow::error::RoleRequestFailed;
use mptcplab_openflow::flow::FlowRemovedReason;
use mptcplab_openflow::packet::PacketInReason;
use mptcplab_openflow::port::PortReason;
use mptcplab_openflow::setup::{AsyncConfig, Role, RoleMessage};
use std::collections::BTreeMap;

/// A connection of a controller, by a number of the caller's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControllerId(pub u32);

/// An asynchronous message, by its reason.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    PacketIn(PacketInReason),
    PortStatus(PortReason),
    FlowRemoved(FlowRemovedReason),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Controller {
    pub(crate) role: Role,
    pub(crate) asynchronous: AsyncConfig,
}

impl Controller {
    fn wants(&self, event: Event) -> bool {
        let column = usize::from(self.role == Role::Slave);
        let (masks, reason) = match event {
            Event::PacketIn(reason) => (self.asynchronous.packet_in, reason.number()),
            Event::PortStatus(reason) => (self.asynchronous.port_status, reason.number()),
            Event::FlowRemoved(reason) => (self.asynchronous.flow_removed, reason.number()),
        };
        masks[column] >> reason & 1 == 1
    }
}

/// All connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controllers {
    connected: BTreeMap<ControllerId, Controller>,
    /// The latest generation of masters.
    generation: Option<u64>,
}

impl Controllers {
    pub(crate) fn add(&mut self, id: ControllerId) {
        let controller = Controller {
            role: Role::Equal,
            asynchronous: AsyncConfig::default(),
        };
        self.connected.insert(id, controller);
    }

    pub(crate) fn remove(&mut self, id: ControllerId) {
        self.connected.remove(&id);
    }

    pub(crate) fn get_mut(&mut self, id: ControllerId) -> Option<&mut Controller> {
        self.connected.get_mut(&id)
    }

    /// The controllers that get a message.
    pub(crate) fn wanting(&self, event: Event) -> Vec<ControllerId> {
        let connected = self.connected.iter();
        connected
            .filter(|(_, controller)| controller.wants(event))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Changes a role; the answer has the role as it is then.
    pub(crate) fn request(
        &mut self,
        id: ControllerId,
        request: RoleMessage,
    ) -> Result<RoleMessage, ErrorKind> {
        let is_of_generation = matches!(request.role, Role::Master | Role::Slave);
        if is_of_generation {
            // The distance decides, as numbers wrap around (section 7.3.9).
            let is_stale = |latest: u64| (request.generation_id.wrapping_sub(latest) as i64) < 0;
            if self.generation.is_some_and(is_stale) {
                return Err(RoleRequestFailed::Stale.into());
            }
            self.generation = Some(request.generation_id);
        }
        if request.role == Role::Master {
            for other in self.connected.values_mut() {
                if other.role == Role::Master {
                    other.role = Role::Slave;
                }
            }
        }
        let controller = self
            .connected
            .get_mut(&id)
            .ok_or(RoleRequestFailed::Unsup)?;
        if request.role != Role::NoChange {
            controller.role = request.role;
        }
        Ok(RoleMessage {
            role: controller.role,
            generation_id: self.generation.unwrap_or(u64::MAX),
        })
    }
}

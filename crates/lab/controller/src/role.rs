//! The role of the controller at a switch (section 6.3.6): it asks to be the master.
//!
//! A switch takes a master only of a generation that is not older than the newest one it knows. It
//! tells that generation to whom asks for no change of role, so that the controller, which may have
//! begun anew since, takes the next one.

use mptcplab_openflow::Body;
use mptcplab_openflow::error::RoleRequestFailed;
use mptcplab_openflow::setup::{Role, RoleMessage};

use crate::controller::Controller;
use crate::events::Event;
use crate::output::ConnectionId;
use crate::session::Session;

/// Requests to be the master, where another controller's come between the question and them.
const TRIES: u8 = 3;

/// A question about roles that has no answer yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoleRequest {
    pub(crate) datapath: u64,
    /// The transaction of the last message.
    xid: u32,
    /// Requests to be the master that may still be made.
    tries: u8,
}

impl Controller {
    /// Asks a switch to take the controller as its master.
    pub(crate) fn ask_role(&mut self, connection: ConnectionId, datapath: u64) {
        if let Some(switch) = self.topology.switches.get_mut(&datapath) {
            switch.is_not_master = false;
        }
        self.ask_generation(connection, datapath, TRIES);
    }

    fn ask_generation(&mut self, connection: ConnectionId, datapath: u64, tries: u8) {
        let request = role(Role::NoChange, 0);
        let xid = self.say(connection, request);
        self.wait_for_role(connection, datapath, xid, tries);
    }

    fn wait_for_role(&mut self, connection: ConnectionId, datapath: u64, xid: u32, tries: u8) {
        let asked = RoleRequest {
            datapath,
            xid,
            tries,
        };
        self.sessions.insert(connection, Session::Role(asked));
    }

    /// Takes a message of a switch that was asked about roles.
    pub(crate) fn take_role(
        &mut self,
        connection: ConnectionId,
        asked: RoleRequest,
        xid: u32,
        body: &Body,
    ) {
        let datapath = asked.datapath;
        match body {
            Body::RoleReply(reply) if xid == asked.xid && reply.role == Role::Master => {
                self.set_up(connection, datapath);
            }
            Body::RoleReply(reply) if xid == asked.xid && asked.tries > 0 => {
                // All ones: there was no generation yet; the next one is then 0.
                let generation_id = reply.generation_id.wrapping_add(1);
                let xid = self.say(connection, role(Role::Master, generation_id));
                self.wait_for_role(connection, datapath, xid, asked.tries - 1);
            }
            Body::Error(error)
                if xid == asked.xid
                    && asked.tries > 0
                    && error.kind == RoleRequestFailed::Stale.into() =>
            {
                self.ask_generation(connection, datapath, asked.tries);
            }
            Body::RoleReply(_) | Body::Error(_) if xid == asked.xid => {
                self.note_not_master(datapath);
                self.set_up(connection, datapath);
            }
            _ => {}
        }
    }

    /// Tells, once a connection, that a switch does not have the controller as its master.
    pub(crate) fn note_not_master(&mut self, datapath: u64) {
        let switch = self.topology.switches.get_mut(&datapath);
        if switch.is_some_and(|switch| !std::mem::replace(&mut switch.is_not_master, true)) {
            self.note(Event::NotMaster(datapath));
        }
    }
}

fn role(role: Role, generation_id: u64) -> Body {
    Body::RoleRequest(RoleMessage {
        role,
        generation_id,
    })
}

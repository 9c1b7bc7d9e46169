//! Files over FTP: what the words on the control connection make an item do.

use mptcplab_plan::{Way, Workload};

use super::{CONTROL, Item, Stage, Work};
use crate::application::conversation::{CLIENT, Happening, Outline};
use crate::application::end::Role;
use crate::application::failure::Failure;
use crate::application::ftp::{Control, Order};
use crate::application::payload::{Receive, Send};
use crate::core::Core;

impl Item {
    /// Opens the control connection of FTP.
    pub(super) fn log_in(&mut self, core: &mut Core, way: Way) {
        let mut control = Control::new(way, self.data_port());
        let connected = core.connect(
            &self.traffic,
            (self.traffic.target, self.traffic.port).into(),
        );
        match connected {
            Ok(id) => {
                core.own(self.traffic.client, id, self.owner(CONTROL, CLIENT));
                control.ids[CLIENT] = Some(id);
                self.work = Work::Files {
                    control,
                    next: 0,
                    is_complete: false,
                };
            }
            Err(why) => {
                core.warn(&self.traffic.name, &format!("FTP could not log in: {why}"));
                self.end(core);
            }
        }
    }

    /// Begins the next file's data connection.
    fn open_file(&mut self, core: &mut Core, port: u16) {
        let (
            Work::Files {
                next, is_complete, ..
            },
            &Workload::Ftp { way, bytes, .. },
        ) = (&mut self.work, &self.traffic.workload)
        else {
            return;
        };
        let index = *next;
        *next += 1;
        *is_complete = false;
        let mut roles: [Box<dyn Role>; 2] =
            [Box::new(Send::new(Some(bytes), None)), Box::new(Receive)];
        if way == Way::Down {
            roles.reverse();
        }
        let outline = Outline {
            is_compared: true,
            amount: Some(bytes),
            ..self.outline("ftp", index, way, roles)
        };
        self.open(core, outline, port);
        for conversation in self.conversations.values_mut() {
            for side in &mut conversation.sides {
                side.is_held = true;
            }
        }
    }

    /// Something happened to the control connection.
    pub(super) fn hear(&mut self, core: &mut Core, side: usize, happening: Happening) {
        let Work::Files { control, .. } = &mut self.work else {
            return;
        };
        control.flush(core, &self.traffic, side);
        let mut orders = control.read(core, &self.traffic, side);
        if let (Happening::Closed(_), Stage::Running) = (happening, self.stage) {
            orders.push(Order::Fail("FTP: the control connection ended".to_owned()));
        }
        for order in orders {
            self.obey(core, order);
        }
    }

    /// Does what the words on the control connection mean.
    fn obey(&mut self, core: &mut Core, order: Order) {
        match order {
            Order::Connect { port } => self.open_file(core, port),
            Order::Speak { side } => {
                let Some((&number, conversation)) = self.conversations.iter_mut().next() else {
                    return;
                };
                conversation.sides[side].is_held = false;
                self.tell(core, number, side, Happening::Ready);
            }
            Order::Complete => {
                if let Work::Files { is_complete, .. } = &mut self.work {
                    *is_complete = true;
                }
                self.next_file(core);
            }
            Order::Fail(sentence) => {
                let numbers: Vec<u32> = self.conversations.keys().copied().collect();
                if numbers.is_empty() {
                    core.warn(&self.traffic.name, &sentence);
                }
                for number in numbers {
                    self.close(core, number, Err(Failure::Other(sentence.clone())));
                }
                self.end(core);
            }
        }
    }

    /// Goes on once the client has heard that a file is complete, and both ends of its connection
    /// have done their parts.
    pub(super) fn next_file(&mut self, core: &mut Core) {
        let (
            Work::Files {
                control,
                next,
                is_complete: true,
            },
            &Workload::Ftp { count, .. },
            true,
        ) = (
            &mut self.work,
            &self.traffic.workload,
            self.conversations.is_empty(),
        )
        else {
            return;
        };
        if *next < count {
            return control.ask_for_port(core, &self.traffic);
        }
        control.quit(core, &self.traffic);
        self.end(core);
    }
}

//! Files over FTP: the actions of a flow upon the lines on the control connection.

use mptcplab_plan::{Way, Workload};

use super::{CONTROL, Flow, Stage, Work};
use crate::network::Network;
use crate::traffic::connection_event::ConnectionEvent;
use crate::traffic::conversation::Outline;
use crate::traffic::end::Role;
use crate::traffic::ftp::{Control, Step};
use crate::traffic::payload::{Receive, Send};
use crate::traffic::side::CLIENT;
use mptcplab_traffic::Failure;

impl Flow {
    /// Opens the control connection of FTP.
    pub(super) fn log_in(&mut self, network: &mut Network, way: Way) {
        let mut control = Control::new(way, self.data_port());
        let connected = network.connect(
            &self.traffic,
            (self.traffic.target, self.traffic.port).into(),
        );
        match connected {
            Ok(id) => {
                network.own_opened(self.traffic.client, id, self.owner(CONTROL, CLIENT), way);
                control.ids[CLIENT] = Some(id);
                self.work = Work::Files {
                    control,
                    next: 0,
                    is_complete: false,
                };
            }
            Err(why) => {
                network.warn(&self.traffic.name, &format!("FTP could not log in: {why}"));
                self.end(network);
            }
        }
    }

    /// Begins the next file's data connection.
    fn open_file(&mut self, network: &mut Network, port: u16) {
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
        self.open(network, outline, port);
        for conversation in self.conversations.values_mut() {
            for side in &mut conversation.sides {
                side.is_paused = true;
            }
        }
    }

    /// Takes an event of the control connection.
    pub(super) fn on_control_event(
        &mut self,
        network: &mut Network,
        side: usize,
        event: ConnectionEvent,
    ) {
        let Work::Files { control, .. } = &mut self.work else {
            return;
        };
        control.flush(network, &self.traffic, side);
        let mut steps = control.read(network, &self.traffic, side);
        if let (ConnectionEvent::Closed(_), Stage::Running) = (event, self.stage) {
            steps.push(Step::Fail("FTP: the control connection ended".to_owned()));
        }
        for step in steps {
            self.execute(network, step);
        }
    }

    /// Executes a step that follows from the control connection.
    fn execute(&mut self, network: &mut Network, step: Step) {
        match step {
            Step::Connect { port } => self.open_file(network, port),
            Step::Transfer { side } => {
                let Some((&number, conversation)) = self.conversations.iter_mut().next() else {
                    return;
                };
                conversation.sides[side].is_paused = false;
                self.on_connection_event(network, number, side, ConnectionEvent::Ready);
            }
            Step::Complete => {
                if let Work::Files { is_complete, .. } = &mut self.work {
                    *is_complete = true;
                }
                self.next_file(network);
            }
            Step::Fail(sentence) => {
                let numbers: Vec<u32> = self.conversations.keys().copied().collect();
                if numbers.is_empty() {
                    network.warn(&self.traffic.name, &sentence);
                }
                for number in numbers {
                    self.close(network, number, Err(Failure::Other(sentence.clone())));
                }
                self.end(network);
            }
        }
    }

    /// Begins the next file once the client has the reply that the last one is complete, and both
    /// ends of its connection are done.
    pub(super) fn next_file(&mut self, network: &mut Network) {
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
            return control.ask_for_port(network, &self.traffic);
        }
        control.quit(network, &self.traffic);
        self.end(network);
    }
}

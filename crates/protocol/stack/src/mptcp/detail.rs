//! State of a connection beyond `MPTCP_INFO`, for whoever stops time and looks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::connection::Connection;
use super::subflow::{Stage, Subflow};
use crate::event::SubflowId;
use crate::info::{DataDetail, NotedChoice, SubflowDetail};

impl Connection {
    /// Sequence numbers at the level of data.
    pub(crate) fn data_detail(&self) -> DataDetail {
        let (sender, receiver) = (&self.sender, &self.receiver);
        DataDetail {
            unacknowledged: sender.acknowledged(),
            next: sender.next(),
            end: sender.end(),
            window_end: sender.window_end(),
            receive_next: receiver.next(),
            reassembly_bytes: receiver.waiting_bytes(),
            ready_bytes: receiver.ready_bytes(),
            receive_window_bytes: receiver.advertised_bytes(),
            reinjected_bytes: sender.bytes_again,
            retransmission_timer: sender.timer.deadline(),
        }
    }

    /// Begins to note the choices of the scheduler, if that has not begun, and takes those since.
    pub(crate) fn take_choices(&mut self) -> Vec<NotedChoice> {
        self.scheduling.note_choices();
        self.scheduling.take_choices()
    }

    /// Numbers of its subflows.
    pub(crate) fn subflow_ids(&self) -> impl Iterator<Item = SubflowId> {
        self.subflows.iter().map(|subflow| SubflowId(subflow.id))
    }

    /// The scheduler with its state.
    pub(crate) fn scheduler(&self) -> String {
        format!("{:?}", self.scheduling.scheduler())
    }

    /// State of a subflow; none where there is none of this number.
    pub(crate) fn subflow_detail(&self, id: SubflowId) -> Option<SubflowDetail> {
        let subflow = self.subflows.iter().find(|subflow| subflow.id == id.0)?;
        Some(self.detail_of(subflow))
    }

    fn detail_of(&self, subflow: &Subflow) -> SubflowDetail {
        SubflowDetail {
            info: self.subflow_info(subflow),
            tcp: subflow.tcp.detail(),
            initiated_here: subflow.initiated_here,
            stage: match subflow.stage {
                Stage::Opening => "opening",
                Stage::PreEstablished => "pre-established",
                Stage::Established if subflow.end.is_closing() => "closing",
                Stage::Established => "established",
            },
        }
    }
}

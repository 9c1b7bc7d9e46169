//! Which data goes on which subflow.

use alloc::boxed::Box;
use alloc::vec::Vec;

use mptcplab_wire::option::{DataNumber, Mapping, data_pseudo_header};

use super::connection::Connection;
use super::data_sender::DataSender;
use super::handshake::Mode;
use super::subflow::Subflow;
use crate::Nanos;
use crate::info::NotedChoice;
use crate::scheduler::{Choice, Scheduler, SchedulerKind, SubflowView, View, preferred};
use crate::tcp::DataMapping;

/// Data handed to a subflow at once after a fallback.
const PLAIN_BYTES: u64 = 1 << 16;

/// The scheduler of a connection and its view of the subflows.
#[derive(Clone, Debug)]
pub(super) struct Scheduling {
    scheduler: Box<dyn Scheduler>,
    /// Something has changed that the scheduler may act on.
    due: bool,
    /// Kept to be used again at each call of the scheduler.
    pub(super) views: Vec<SubflowView>,
    /// Choices since they were last taken, where they are noted.
    noted: Option<Vec<NotedChoice>>,
}

impl Scheduling {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Self {
            scheduler,
            due: true,
            views: Vec::new(),
            noted: None,
        }
    }

    pub(super) fn scheduler(&self) -> &dyn Scheduler {
        &*self.scheduler
    }

    /// Uses another scheduler.
    pub(super) fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = scheduler;
    }

    /// Begins to note choices, if that has not begun.
    pub(super) fn note_choices(&mut self) {
        self.noted.get_or_insert_default();
    }

    /// Takes the choices that were noted.
    pub(super) fn take_choices(&mut self) -> Vec<NotedChoice> {
        self.noted.as_mut().map(core::mem::take).unwrap_or_default()
    }

    /// Lets the scheduler be called before the next segment leaves.
    #[inline]
    pub(super) fn request(&mut self) {
        self.due = true;
    }

    /// Whether the scheduler is to be called; once.
    #[inline]
    pub(super) fn take_request(&mut self) -> bool {
        core::mem::take(&mut self.due)
    }

    fn choose(&mut self, now: Nanos, sender: &DataSender) -> Option<Choice> {
        let view = view(now, &self.views, sender);
        let choice = choose_whole(&mut *self.scheduler, &view, sender);
        note(&mut self.noted, &view, choice);
        choice
    }

    /// The same for data that is to be sent again.
    fn choose_again(
        &mut self,
        now: Nanos,
        sender: &DataSender,
        (from, to): (u64, u64),
    ) -> Option<Choice> {
        let view = View {
            next: from,
            end: to,
            ..view(now, &self.views, sender)
        };
        let choice = choose_whole(&mut *self.scheduler, &view, sender);
        note(&mut self.noted, &view, choice);
        choice
    }

    pub(super) fn view(&self, now: Nanos, sender: &DataSender) -> View<'_> {
        view(now, &self.views, sender)
    }
}

impl Connection {
    /// Hands data to subflows. True where a subflow got some.
    pub(super) fn schedule(&mut self, now: Nanos) -> bool {
        let handed = match self.handshake.mode() {
            Mode::Opening => false,
            Mode::Fallback => self.schedule_plain(),
            Mode::Multipath => self.schedule_mapped(now),
        };
        self.widen_send_buffers(now);
        handed
    }

    fn schedule_plain(&mut self) -> bool {
        let Some(first) = self.subflows.first_mut() else {
            return false;
        };
        let mut handed = false;
        while self.sender.next() < self.sender.end()
            && first.tcp.outstanding_bytes() < first.tcp.send_buffer_bytes()
        {
            let from = self.sender.next();
            let data = self.sender.slice(from, PLAIN_BYTES);
            self.sender.handed(from, from + data.len() as u64);
            first.tcp.send(data);
            handed = true;
        }
        if self.sender.is_shut()
            && self.sender.next() == self.sender.end()
            && !first.end.is_closing()
        {
            first.tcp.shutdown();
            first.end.close();
            handed = true;
        }
        first.pending |= handed;
        handed
    }

    fn schedule_mapped(&mut self, now: Nanos) -> bool {
        let mut handed = self.send_fin(now);
        let unsent = self.sender.next() < self.sender.end();
        if !unsent && self.sender.again().is_none() && !self.sends_everything_everywhere() {
            return handed;
        }
        self.look_at_subflows();
        self.measure_data_interval(now);
        handed |= self.send_again(now);
        // New data comes after what may be lost: a scheduler that queues more than the congestion
        // window would leave no room for that as long as there is new data.
        while self.sender.again().is_none()
            && let Some(choice) = self.choose(now)
        {
            if !self.hand(now, choice) {
                break;
            }
            handed = true;
        }
        if handed {
            self.send_fin(now);
            for subflow in self.subflows.iter_mut() {
                subflow.tcp.mark_push();
            }
        }
        self.restart_data_timer(now, false);
        handed
    }

    /// A scheduler may have something for a slower subflow although all data was handed out once.
    pub(super) fn sends_everything_everywhere(&self) -> bool {
        matches!(self.config.scheduler, SchedulerKind::Redundant)
            && self.sender.acknowledged() < self.sender.next()
    }

    /// Fills `views` with the usable subflows.
    fn look_at_subflows(&mut self) {
        for index in 0..self.subflows.len() {
            self.set_active(index);
        }
        self.scheduling.views.clear();
        let usable = |subflow: &&Subflow| subflow.may_send() && !subflow.staleness.is_stale();
        let views = self.subflows.iter().filter(usable).map(Subflow::view);
        self.scheduling.views.extend(views);
    }

    fn choose(&mut self, now: Nanos) -> Option<Choice> {
        if self.scheduling.views.is_empty() {
            return None;
        }
        let choice = self.scheduling.choose(now, &self.sender);
        if choice.is_some() || !self.config.opportunistic_retransmission {
            return choice;
        }
        self.retransmit_opportunistically(now)
    }

    /// Sends again what other subflows may have lost.
    fn send_again(&mut self, now: Nanos) -> bool {
        let mut handed = false;
        while let Some(range) = self.sender.again() {
            let choice = if self.scheduling.scheduler.places_retransmissions() {
                self.scheduling.choose_again(now, &self.sender, range)
            } else {
                self.fastest_with_room(range)
            };
            let Some(choice) = choice.filter(|choice| self.hand(now, *choice)) else {
                break;
            };
            self.sender.sent_again(choice.from + choice.bytes);
            handed = true;
        }
        handed
    }

    /// A segment on the fastest subflow with room. That the others lack room is no reason to use a
    /// backup (RFC 8684, section 3.3.8).
    fn fastest_with_room(&self, (from, to): (u64, u64)) -> Option<Choice> {
        let (subflow, view) = preferred(&self.scheduling.views)
            .filter(|(_, view)| view.has_room())
            .min_by_key(|(_, view)| view.smoothed_rtt_ns)?;
        Some(Choice {
            subflow,
            from,
            bytes: (to - from).min(view.segment_bytes),
        })
    }

    /// Hands data to a subflow as a scheduler chose. False where nothing was handed.
    fn hand(&mut self, now: Nanos, choice: Choice) -> bool {
        let id = self.scheduling.views[choice.subflow].id;
        let Some(index) = self.subflows.index_of(id) else {
            return false;
        };
        let handed = self.hand_to(now, index, choice.from, choice.from + choice.bytes);
        self.scheduling.views[choice.subflow] = self.subflows[index].view();
        handed > 0
    }

    /// Hands data to a subflow, cut into segments. Gives how many.
    pub(super) fn hand_to(&mut self, now: Nanos, index: usize, from: u64, end: u64) -> u32 {
        let subflow = &mut self.subflows[index];
        let new = from >= self.sender.next();
        self.fallback.keep_linear(new && subflow.is_first());
        let mut from = from;
        let mut segments = 0;
        while from < end {
            let data_sequence = self.sender.numbers().wire(from);
            let bytes = (end - from).min(subflow.tcp.segment_room_bytes(data_sequence));
            let payload = self.sender.slice(from, bytes);
            let window_end = self.sender.window_end();
            subflow
                .tcp
                .raise_send_window(window_end.saturating_sub(from));
            // The last data brings DATA_FIN with it (RFC 8684, section 3.3.3), and each copy of it
            // where the first did: Linux 6.18 records a DATA_FIN that comes with data which it has
            // already, but never acts on it, and ignores all that follow
            // (`subflow_check_data_avail`, net/mptcp/subflow.c).
            let first = new && (from > 0 || self.handshake.is_confirmed());
            let last = self.sender.is_shut() && from + bytes == self.sender.end();
            let data_fin = last && (first || self.sender.fin_went_with_data());
            let checksum = self.handshake.checksum().then(|| {
                let mapping = Mapping {
                    data_sequence: DataNumber::Long(data_sequence),
                    subflow_sequence: subflow.handed as u32,
                    bytes: bytes as u16 + u16::from(data_fin),
                    checksum: None,
                };
                let mut sum = data_pseudo_header(data_sequence, &mapping);
                sum.add(&payload);
                sum.finish()
            });
            let mapping = DataMapping {
                data_sequence,
                data_fin,
                push: false,
                checksum,
            };
            subflow.tcp.send_mapped(now, payload, mapping);
            subflow.handed += bytes;
            self.sender.handed(from, from + bytes);
            if data_fin {
                self.sender.fin_goes_with_data();
            }
            from += bytes;
            segments += 1;
        }
        subflow.sent_until = subflow.sent_until.max(from);
        subflow.pending = true;
        segments
    }
}

/// The choice of a scheduler, to the end of a fragment where it hands whole ones.
fn choose_whole(
    scheduler: &mut dyn Scheduler,
    view: &View<'_>,
    sender: &DataSender,
) -> Option<Choice> {
    let mut choice = scheduler.choose(view)?;
    if scheduler.hands_fragments() {
        let end = sender.fragment_end(choice.from + choice.bytes);
        choice.bytes = end.min(view.end).min(view.window_end) - choice.from;
    }
    Some(choice)
}

fn note(noted: &mut Option<Vec<NotedChoice>>, view: &View<'_>, choice: Option<Choice>) {
    if let (Some(noted), Some(choice)) = (noted, choice) {
        noted.push(NotedChoice {
            subflows: view.subflows.to_vec(),
            choice,
        });
    }
}

/// The view of a scheduler.
fn view<'a>(now: Nanos, subflows: &'a [SubflowView], sender: &DataSender) -> View<'a> {
    View {
        now,
        subflows,
        acknowledged: sender.acknowledged(),
        next: sender.next(),
        end: sender.end(),
        window_end: sender.window_end(),
    }
}

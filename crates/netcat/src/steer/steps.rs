//! What is done about each path when its time has come.

use std::net::IpAddr;
use std::time::Instant;

use mptcplab_subflow::Error;

use super::course::Course;
use super::locals::{Local, locals};
use super::orders::{Done, Orders};
use super::path::{State, Step};

impl Course<'_, '_> {
    /// Does what is due about each path.
    pub(super) fn look(&mut self) {
        if self.ways.is_empty() {
            return;
        }
        let (here, peer, now) = (locals().unwrap_or_default(), self.peer(), Instant::now());
        for number in 0..self.ways.len() {
            match self.ways[number].step(&here, peer, now) {
                Step::Rest => {}
                Step::Open(local) => self.open(number, &local),
                Step::Close(id) => self.leave(number, id),
            }
        }
    }

    /// Takes note of the subflows whose opening has ended.
    pub(super) fn take_results(&mut self) {
        while let Some(done) = self.orders.as_ref().and_then(Orders::ended) {
            let Done {
                way,
                address,
                result,
            } = done;
            match result {
                Ok(id) => self.opened(way, id, address),
                Err(Error::Interrupted) => {}
                // The peer has not answered yet: it will, once there is data.
                Err(Error::NotEstablished) => {
                    self.ways[way].state = State::None;
                    self.look();
                }
                Err(error) => self.refused(way, address, &error),
            }
        }
    }

    /// A subflow has closed.
    pub(super) fn lost(&mut self, id: u32) {
        for way in &mut self.ways {
            if matches!(way.state, State::Open(open, _) if open == id) {
                way.failed(self.follow);
            }
            way.stale = way.stale.filter(|&stale| stale != id);
        }
    }

    /// Gives a subflow the name of its path, before the thread that opened it has told.
    pub(super) fn recognise(&mut self, id: u32) {
        let Some(local) = self.tracker.local(id) else {
            return;
        };
        let mut ways = self.ways.iter();
        if let Some(way) = ways.find(|way| way.state == State::Opening(local)) {
            self.tracker.name(id, &way.path.name);
        }
    }

    /// Names the paths over which a subflow was still being opened when the transfer was over.
    pub(super) fn tell_too_late(&mut self) {
        self.take_results();
        for way in &self.ways {
            if let State::Opening(address) = way.state {
                let name = &way.path.name;
                self.report.say(&format!(
                    "no subflow over {name} ({address}): the transfer was over before"
                ));
            }
        }
    }

    pub(super) fn make_backup(&self, id: u32, name: &str) {
        let made = self.orders.as_ref().map(|orders| orders.make_backup(id));
        if let Some(Err(error)) = made {
            self.report
                .say(&format!("{name} cannot be made a backup: {error}"));
        }
    }

    fn open(&mut self, number: usize, local: &Local) {
        let way = &mut self.ways[number];
        if let Some(orders) = &self.orders {
            way.state = State::Opening(local.address);
            orders.open(number, way, local);
        }
    }

    fn opened(&mut self, number: usize, id: u32, address: IpAddr) {
        let way = &mut self.ways[number];
        way.state = State::Open(id, address);
        way.refresh();
        self.tracker.name(id, &way.path.name);
        let ways = self.ways.iter_mut();
        let stale: Vec<_> = ways.filter_map(|way| way.stale.take()).collect();
        self.read();
        for id in stale {
            self.close(id);
        }
    }

    fn refused(&mut self, number: usize, address: IpAddr, error: &Error) {
        let way = &mut self.ways[number];
        let name = &way.path.name;
        self.report
            .say(&format!("no subflow over {name} ({address}): {error}"));
        // What the broker's policy forbids today it forbids in a second.
        way.failed(self.follow && !matches!(error, Error::Forbidden { .. }));
    }

    /// The address of a path has gone: its subflow is closed at once, if there is another.
    fn leave(&mut self, number: usize, id: u32) {
        let way = &mut self.ways[number];
        way.state = State::None;
        way.refresh();
        let name = way.path.name.clone();
        self.tracker.because(id, format!("{name} has gone"));
        self.read();
        if self.tracker.open() > 1 {
            self.close(id);
        } else {
            self.report
                .told(&format!("{name} has gone, and there is no other subflow"));
            self.ways[number].stale = Some(id);
        }
    }

    fn close(&mut self, id: u32) {
        match self.orders.as_ref().map(|orders| orders.close(id)) {
            Some(Ok(())) => self.read(),
            Some(Err(error)) => self
                .report
                .say(&format!("subflow {id} cannot be closed: {error}")),
            None => {}
        }
    }
}

//! The actions on paths, and their results.

use std::net::IpAddr;
use std::time::Instant;

use mptcplab_subflow::Error;

use super::commands::{Commands, Done};
use super::locals::{Local, locals};
use super::path::{Action, SubflowState};
use super::supervisor::Supervisor;

impl Supervisor<'_, '_> {
    /// Carries out the action that is due on each path.
    pub(super) fn act(&mut self) {
        if self.paths.is_empty() {
            return;
        }
        let (here, peer, now) = (locals().unwrap_or_default(), self.peer(), Instant::now());
        for number in 0..self.paths.len() {
            match self.paths[number].next_action(&here, peer, now) {
                Action::None => {}
                Action::Open(local) => self.open(number, &local),
                Action::Close(id) => self.leave(number, id),
            }
        }
    }

    /// Takes the results of subflows that were being opened.
    pub(super) fn take_results(&mut self) {
        while let Some(done) = self.commands.as_ref().and_then(Commands::next_result) {
            let Done {
                path,
                address,
                result,
            } = done;
            match result {
                Ok(id) => self.opened(path, id, address),
                Err(Error::Interrupted) => {}
                // The peer confirms the connection with its first data.
                Err(Error::NotEstablished) => {
                    self.paths[path].subflow = SubflowState::None;
                    self.act();
                }
                Err(error) => self.refused(path, address, &error),
            }
        }
    }

    /// Notes that a subflow has closed.
    pub(super) fn lost(&mut self, id: u32) {
        for path in &mut self.paths {
            if matches!(path.subflow, SubflowState::Open(open, _) if open == id) {
                path.failed(self.follow);
            }
            path.stale = path.stale.filter(|&stale| stale != id);
        }
    }

    /// Gives a subflow the name of its path, before the result of opening it is there.
    pub(super) fn recognise(&mut self, id: u32) {
        let Some(local) = self.tracker.local(id) else {
            return;
        };
        let mut paths = self.paths.iter();
        if let Some(path) = paths.find(|path| path.subflow == SubflowState::Opening(local)) {
            self.tracker.name(id, &path.wanted.name);
        }
    }

    /// Names the paths over which a subflow was still being opened when the transfer was over.
    pub(super) fn tell_too_late(&mut self) {
        self.take_results();
        for path in &self.paths {
            if let SubflowState::Opening(address) = path.subflow {
                let name = &path.wanted.name;
                self.report.info(&format!(
                    "no subflow over {name} ({address}): the transfer was over before"
                ));
            }
        }
    }

    pub(super) fn make_backup(&self, id: u32, name: &str) {
        let made = self
            .commands
            .as_ref()
            .map(|commands| commands.make_backup(id));
        if let Some(Err(error)) = made {
            self.report
                .info(&format!("{name} cannot be made a backup: {error}"));
        }
    }

    fn open(&mut self, number: usize, local: &Local) {
        let path = &mut self.paths[number];
        if let Some(commands) = &self.commands {
            path.subflow = SubflowState::Opening(local.address);
            commands.open(number, path, local);
        }
    }

    fn opened(&mut self, number: usize, id: u32, address: IpAddr) {
        let path = &mut self.paths[number];
        path.subflow = SubflowState::Open(id, address);
        path.refresh();
        self.tracker.name(id, &path.wanted.name);
        let paths = self.paths.iter_mut();
        let stale: Vec<_> = paths.filter_map(|path| path.stale.take()).collect();
        self.read();
        for id in stale {
            self.close(id);
        }
    }

    fn refused(&mut self, number: usize, address: IpAddr, error: &Error) {
        let path = &mut self.paths[number];
        let name = &path.wanted.name;
        self.report
            .info(&format!("no subflow over {name} ({address}): {error}"));
        // The broker's policy would forbid it again.
        path.failed(self.follow && !matches!(error, Error::Forbidden { .. }));
    }

    /// The address of a path has gone: its subflow is closed at once, if there is another.
    fn leave(&mut self, number: usize, id: u32) {
        let path = &mut self.paths[number];
        path.subflow = SubflowState::None;
        path.refresh();
        let name = path.wanted.name.clone();
        self.tracker.because(id, format!("{name} has gone"));
        self.read();
        if self.tracker.open() > 1 {
            self.close(id);
        } else {
            self.report
                .verbose(&format!("{name} has gone, and there is no other subflow"));
            self.paths[number].stale = Some(id);
        }
    }

    fn close(&mut self, id: u32) {
        match self.commands.as_ref().map(|commands| commands.close(id)) {
            Some(Ok(())) => self.read(),
            Some(Err(error)) => self
                .report
                .info(&format!("subflow {id} cannot be closed: {error}")),
            None => {}
        }
    }
}

//! Commands: the policy's decision, and the calls of the backend.

use std::net::SocketAddr;
use std::time::Instant;

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{Answer, Command, OPTION_BYTES};

use super::pending::Requester;
use super::{PendingOption, UserState};
use crate::backend::PathManagerBackend;
use crate::limits::MOST_OPTIONS;
use crate::options::{OptionAction, OptionRequest, TIMEOUT};
use crate::policy::{Announce, Rule};
use crate::request::{hung_up, protocol};

impl<B: PathManagerBackend> UserState<B> {
    /// Carries out a command if the policy allows it; `None` where the answer comes later.
    pub(super) fn carry_out(
        &mut self,
        number: u64,
        id: u64,
        command: Command,
        socket: B::Socket,
        token: &mut Option<u32>,
        now: Instant,
    ) -> Result<Option<Answer>, Error> {
        let policy = self.policy.clone();
        let session = self.sessions.get(&number).ok_or_else(hung_up)?;
        if session.watched.is_some() || session.is_over {
            return Err(protocol(
                "this session watches a connection: open another one",
            ));
        }
        let rule = &policy.rules[session.rule];
        let (found, subflows) = self.backend.connection(&socket)?;
        *token = Some(found);
        let nothing = || Some(Answer::Nothing {});
        match command {
            Command::Open(mut open) => {
                rule.check_room(subflows)?;
                // By its index, so that a rename cannot come between the policy and the kernel.
                let (index, own_name) = match open.interface.take() {
                    None => (0, None),
                    Some(name) => {
                        let found = self.backend.interface(&name)?;
                        let (index, own_name) = found.ok_or(Error::NoInterface { name })?;
                        (index, Some(own_name))
                    }
                };
                self.check_local(rule, open.local, own_name)?;
                self.check_opens()?;
                let requester = Requester {
                    session: number,
                    request: id,
                    token: found,
                };
                let open = (open, index);
                let backend = &mut self.backend;
                let begun = self
                    .pending_subflows
                    .begin(backend, requester, socket, open, now);
                begun.map(|()| None)
            }
            Command::Close { subflow } => self.backend.close(&socket, subflow).map(|()| nothing()),
            Command::SetBackup { subflow, backup } => {
                rule.check_backup()?;
                let done = self.backend.set_backup(&socket, subflow, backup);
                done.map(|()| nothing())
            }
            Command::Announce { address } => {
                match rule.announce {
                    Announce::No => return Err(rule.forbids("`announce` is no")),
                    Announce::Own => self.check_local(rule, address, None)?,
                    Announce::Any => {}
                }
                let done = self.backend.announce(&socket, address);
                done.map(|id| Some(Answer::Address(id)))
            }
            Command::Withdraw { address_id } => self
                .backend
                .withdraw(&socket, address_id)
                .map(|()| nothing()),
            Command::GetOption {
                subflow,
                level,
                option,
                length,
            } => {
                rule.check_get(level, option)?;
                check_length(length)?;
                let request = OptionRequest {
                    subflow,
                    level,
                    option,
                    action: OptionAction::Get(length),
                };
                self.begin_option((number, id, found), "get_option", socket, request, now)
            }
            Command::SetOption {
                subflow,
                level,
                option,
                value,
            } => {
                rule.check_set(level, option, &value)?;
                check_length(value.len())?;
                let request = OptionRequest {
                    subflow,
                    level,
                    option,
                    action: OptionAction::Set(value),
                };
                self.begin_option((number, id, found), "set_option", socket, request, now)
            }
            Command::Watch {} => self.watch(number, found).map(|()| nothing()),
        }
    }

    /// Checks that a rule allows this address and this interface.
    fn check_local(
        &mut self,
        rule: &Rule,
        address: SocketAddr,
        interface: Option<String>,
    ) -> Result<(), Error> {
        if rule.has_all_interfaces() {
            return Ok(());
        }
        let ip = address.ip().to_canonical();
        let mut names = self.backend.interfaces(ip)?;
        if names.is_empty() {
            // Every address of the loopback network is local.
            if !ip.is_loopback() {
                return Err(Error::NotLocal { address });
            }
            names.push("lo".to_owned());
        }
        names.extend(interface);
        rule.check_interfaces(&names)
    }

    fn begin_option(
        &mut self,
        (session, id, token): (u64, u64, u32),
        command: &'static str,
        socket: B::Socket,
        request: OptionRequest,
        now: Instant,
    ) -> Result<Option<Answer>, Error> {
        if self.pending_options.len() >= MOST_OPTIONS {
            let reason = format!("{MOST_OPTIONS} options are being set or read for you");
            return Err(Error::TooMany { reason });
        }
        self.next_ticket += 1;
        let ticket = self.next_ticket;
        self.backend.begin_option(ticket, socket, request)?;
        let requester = Requester {
            session,
            request: id,
            token,
        };
        let pending = PendingOption {
            requester,
            command,
            deadline: now + TIMEOUT,
        };
        self.pending_options.insert(ticket, pending);
        Ok(None)
    }

    /// Checks that the user may open one more subflow.
    fn check_opens(&self) -> Result<(), Error> {
        if self.pending_subflows.len() < self.limits.opens {
            return Ok(());
        }
        let reason = format!("{} subflows are being opened for you", self.limits.opens);
        Err(Error::TooMany { reason })
    }

    fn watch(&mut self, number: u64, token: u32) -> Result<(), Error> {
        if self.watches >= self.limits.watches {
            let reason = format!("{} connections are watched for you", self.limits.watches);
            return Err(Error::TooMany { reason });
        }
        let session = self.sessions.get_mut(&number).ok_or_else(hung_up)?;
        session.watched = Some(token);
        self.watching.entry(token).or_default().push(number);
        self.watches += 1;
        Ok(())
    }

    /// Ends a watch and, when all is sent, the session.
    pub(super) fn finish_watch(&mut self, number: u64) {
        self.end_watch(number);
        if let Some(session) = self.sessions.get_mut(&number) {
            session.is_over = true;
            self.dirty.insert(number);
        }
    }

    pub(super) fn end_watch(&mut self, number: u64) {
        let session = self.sessions.get_mut(&number);
        let Some(token) = session.and_then(|session| session.watched.take()) else {
            return;
        };
        self.watches -= 1;
        if let Some(sessions) = self.watching.get_mut(&token) {
            sessions.retain(|&other| other != number);
            if sessions.is_empty() {
                self.watching.remove(&token);
            }
        }
    }
}

fn check_length(bytes: usize) -> Result<(), Error> {
    if bytes <= OPTION_BYTES {
        return Ok(());
    }
    Err(protocol("an option's value is at most 256 bytes"))
}

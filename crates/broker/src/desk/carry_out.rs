//! Orders, once they are understood: allowed or not, and carried out.

use std::net::SocketAddr;
use std::time::Instant;

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{Answer, OPTION_BYTES, Order};

use super::Desk;
use super::openings::Waiting;
use super::reply::{hung_up, protocol};
use crate::hand::Hand;
use crate::limits::MOST_OPTIONS;
use crate::options::{Asked, PATIENCE, Wanted};
use crate::policy::{Announce, Rule};

impl<H: Hand> Desk<H> {
    /// Carries out an order, once it is allowed; no answer yet for an opening.
    pub(super) fn carry_out(
        &mut self,
        session: u64,
        id: u64,
        order: Order,
        socket: H::Socket,
        token: &mut Option<u32>,
        now: Instant,
    ) -> Result<Option<Answer>, Error> {
        let policy = self.policy.clone();
        let talk = self.sessions.get(&session).ok_or_else(hung_up)?;
        if talk.watched.is_some() || talk.is_over {
            return Err(protocol("this talk is one of events: open another one"));
        }
        let rule = talk.rule.and_then(|place| policy.rules.get(place));
        let rule = rule.ok_or_else(|| Error::Forbidden {
            reason: "no rule names you".to_owned(),
        })?;
        let (found, subflows) = self.hand.connection(&socket)?;
        *token = Some(found);
        let nothing = || Some(Answer::Nothing {});
        match order {
            Order::Open(mut open) => {
                rule.check_room(subflows)?;
                // The policy and the kernel are to mean the same one, whatever it is called later.
                let (index, own_name) = match open.interface.take() {
                    None => (0, None),
                    Some(name) => {
                        let found = self.hand.interface(&name)?;
                        let (index, own_name) = found.ok_or(Error::NoInterface { name })?;
                        (index, Some(own_name))
                    }
                };
                self.check_local(rule, open.local, own_name)?;
                self.check_openings()?;
                let waiting = Waiting {
                    session,
                    request: id,
                    token: found,
                };
                let wanted = (open, index);
                let hand = &mut self.hand;
                let begun = self.openings.begin(hand, waiting, socket, wanted, now);
                begun.map(|()| None)
            }
            Order::Close { subflow } => self.hand.close(&socket, subflow).map(|()| nothing()),
            Order::SetBackup { subflow, backup } => {
                rule.check_backup()?;
                let done = self.hand.set_backup(&socket, subflow, backup);
                done.map(|()| nothing())
            }
            Order::Announce { address } => {
                match rule.announce {
                    Announce::No => return Err(rule.forbids("`announce` is no")),
                    Announce::Own => self.check_local(rule, address, None)?,
                    Announce::Any => {}
                }
                let done = self.hand.announce(&socket, address);
                done.map(|id| Some(Answer::Address(id)))
            }
            Order::Withdraw { address_id } => {
                self.hand.withdraw(&socket, address_id).map(|()| nothing())
            }
            Order::GetOption {
                subflow,
                level,
                option,
                length,
            } => {
                rule.check_get(level, option)?;
                check_length(length)?;
                let wanted = Wanted {
                    subflow,
                    level,
                    option,
                    asked: Asked::Get(length),
                };
                self.begin_option((session, id, found), "get_option", socket, wanted, now)
            }
            Order::SetOption {
                subflow,
                level,
                option,
                value,
            } => {
                rule.check_set(level, option, &value)?;
                check_length(value.len())?;
                let wanted = Wanted {
                    subflow,
                    level,
                    option,
                    asked: Asked::Set(value),
                };
                self.begin_option((session, id, found), "set_option", socket, wanted, now)
            }
            Order::Watch {} => self.watch(session, found).map(|()| nothing()),
        }
    }

    /// Whether a rule lets this address be used, on this interface.
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
        let mut names = self.hand.interfaces(ip)?;
        if names.is_empty() {
            // All of its network is this host.
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
        (session, request, token): (u64, u64, u32),
        order: &'static str,
        socket: H::Socket,
        wanted: Wanted,
        now: Instant,
    ) -> Result<Option<Answer>, Error> {
        if self.options.len() >= MOST_OPTIONS {
            let reason = format!("{MOST_OPTIONS} options are being set or read for you");
            return Err(Error::TooMany { reason });
        }
        self.next_ticket += 1;
        let ticket = self.next_ticket;
        self.hand.begin_option(ticket, socket, wanted)?;
        let waiting = Waiting {
            session,
            request,
            token,
        };
        self.options
            .insert(ticket, (waiting, order, now + PATIENCE));
        Ok(None)
    }

    /// Whether one more subflow may be opened.
    fn check_openings(&self) -> Result<(), Error> {
        if self.openings.len() < self.limits.opens {
            return Ok(());
        }
        let reason = format!("{} subflows are being opened for you", self.limits.opens);
        Err(Error::TooMany { reason })
    }

    fn watch(&mut self, session: u64, token: u32) -> Result<(), Error> {
        if self.watches >= self.limits.watches {
            let reason = format!("{} connections are watched for you", self.limits.watches);
            return Err(Error::TooMany { reason });
        }
        let talk = self.sessions.get_mut(&session).ok_or_else(hung_up)?;
        talk.watched = Some(token);
        self.watching.entry(token).or_default().push(session);
        self.watches += 1;
        Ok(())
    }

    /// Ends a watch and, when all is sent, the talk.
    pub(super) fn finish_watch(&mut self, session: u64) {
        self.end_watch(session);
        if let Some(talk) = self.sessions.get_mut(&session) {
            talk.is_over = true;
            self.touched.insert(session);
        }
    }

    pub(super) fn end_watch(&mut self, session: u64) {
        let talk = self.sessions.get_mut(&session);
        let Some(token) = talk.and_then(|talk| talk.watched.take()) else {
            return;
        };
        self.watches -= 1;
        if let Some(sessions) = self.watching.get_mut(&token) {
            sessions.retain(|&other| other != session);
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

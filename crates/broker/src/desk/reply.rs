//! What clients are told.

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{Answer, Message, Order};

use super::openings::{Decided, Waiting};
use super::{Action, Desk, Received};
use crate::hand::Hand;
use crate::limits::OUTBOX_MESSAGES;

impl<H: Hand> Desk<H> {
    pub(super) fn answer_openings(&mut self, decided: Vec<Decided>) {
        for (waiting, result) in decided {
            let Waiting {
                session,
                request,
                token,
            } = waiting;
            let result = result.map(Answer::Subflow);
            self.answer(session, request, Some(token), "open", result);
        }
    }

    pub(super) fn answer(
        &mut self,
        session: u64,
        id: u64,
        token: Option<u32>,
        order: &'static str,
        result: Result<Answer, Error>,
    ) {
        self.actions.push(Action {
            session,
            token,
            order,
            result: result.clone().map(drop),
        });
        let message = match result {
            Ok(answer) => Message::Done { id, answer },
            Err(error) => Message::Failed { id, error },
        };
        self.post(session, &message);
    }

    pub(super) fn post(&mut self, session: u64, message: &Message) {
        let Some(talk) = self.sessions.get_mut(&session) else {
            return;
        };
        if talk.outbox.len() >= OUTBOX_MESSAGES {
            // It does not read.
            talk.outbox.clear();
            self.finish_watch(session);
            return;
        }
        if !talk.is_over {
            talk.outbox.push_back(message.to_bytes());
            self.touched.insert(session);
        }
    }
}

/// The socket that a request is about.
pub(super) fn one<S>(received: Received<'_, S>) -> Result<S, Error> {
    let mut sockets = received.sockets.into_iter();
    match (sockets.next(), sockets.next()) {
        (Some(socket), None) if !received.sockets_are_cut => Ok(socket),
        (None, _) if received.sockets_are_cut => Err(Error::TooMany {
            reason: "the broker has no room for another descriptor".to_owned(),
        }),
        (None, _) => Err(protocol("no descriptor came with the request")),
        _ => Err(protocol("more than one descriptor came with the request")),
    }
}

/// What an order is called.
pub(super) fn name(order: &Order) -> &'static str {
    match order {
        Order::Open(_) => "open",
        Order::Close { .. } => "close",
        Order::SetBackup { .. } => "set_backup",
        Order::Announce { .. } => "announce",
        Order::Withdraw { .. } => "withdraw",
        Order::GetOption { .. } => "get_option",
        Order::SetOption { .. } => "set_option",
        Order::Watch {} => "watch",
    }
}

pub(super) fn protocol(reason: &str) -> Error {
    Error::Protocol {
        reason: reason.to_owned(),
    }
}

pub(super) fn hung_up() -> Error {
    protocol("the client has hung up")
}

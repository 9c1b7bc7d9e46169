//! Messages to clients.

use mptcplab_subflow::Error;
use mptcplab_subflow::protocol::{Answer, Command, Message};

use super::pending::{OpeningResult, Requester};
use super::{Action, Outcome, UserState};
use crate::backend::PathManagerBackend;
use crate::limits::OUTBOX_MESSAGES;

impl<B: PathManagerBackend> UserState<B> {
    pub(super) fn answer_opens(&mut self, results: Vec<OpeningResult>) {
        for (requester, result) in results {
            let Requester {
                session,
                request,
                token,
            } = requester;
            let result = result.map(Answer::Subflow);
            self.answer(session, request, Some(token), "open", result);
        }
    }

    pub(super) fn answer(
        &mut self,
        session: u64,
        id: u64,
        token: Option<u32>,
        command: &'static str,
        result: Result<Answer, Error>,
    ) {
        self.actions.push(Action {
            session,
            token,
            command,
            outcome: match &result {
                Ok(_) => Outcome::Done,
                Err(error) => Outcome::Failed(error.clone()),
            },
        });
        let message = match result {
            Ok(answer) => Message::Done { id, answer },
            Err(error) => Message::Failed { id, error },
        };
        self.push_message(session, &message);
    }

    pub(super) fn push_message(&mut self, number: u64, message: &Message) {
        let Some(session) = self.sessions.get_mut(&number) else {
            return;
        };
        if session.outbox.len() >= OUTBOX_MESSAGES {
            // The client does not read.
            session.outbox.clear();
            self.finish_watch(number);
            return;
        }
        if !session.is_over {
            session.outbox.push_back(message.to_bytes());
            self.dirty.insert(number);
        }
    }
}

/// Name of a command in the journal.
pub(super) fn command_name(command: &Command) -> &'static str {
    match command {
        Command::Open(_) => "open",
        Command::Close { .. } => "close",
        Command::SetBackup { .. } => "set_backup",
        Command::Announce { .. } => "announce",
        Command::Withdraw { .. } => "withdraw",
        Command::GetOption { .. } => "get_option",
        Command::SetOption { .. } => "set_option",
        Command::Watch {} => "watch",
    }
}

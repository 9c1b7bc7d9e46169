//! Messages on standard error, and the account as JSON.

use std::fs::File;
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::account::{SubflowAccount, Transfer};
use crate::failure::Failure;
use crate::options::Options;
use crate::table::table;

/// Destinations of messages and accounts.
pub(crate) struct Report {
    is_verbose: bool,
    table: bool,
    json: bool,
    json_file: Option<File>,
    fallen_back: AtomicBool,
}

/// The account of one connection, as JSON.
#[derive(Serialize)]
struct JsonAccount<'a> {
    peer: &'a str,
    bytes_sent: u64,
    bytes_received: u64,
    seconds: f64,
    error: Option<String>,
    #[serde(flatten)]
    subflows: Option<&'a SubflowAccount>,
}

impl Report {
    /// Messages and accounts as the options say.
    ///
    /// # Errors
    /// When the file for the account cannot be made.
    pub(crate) fn new(options: &Options) -> Result<Self, Failure> {
        let json_file = match &options.json_file {
            Some(path) => {
                let file = File::create(path);
                Some(file.map_err(Failure::of(format!("--json-file: {}", path.display())))?)
            }
            None => None,
        };
        Ok(Self {
            is_verbose: options.verbose,
            table: options.verbose || options.subflows.any(),
            json: options.json,
            json_file,
            fallen_back: AtomicBool::new(false),
        })
    }

    /// The account of the subflows is wanted.
    pub(crate) fn wants_subflows(&self) -> bool {
        self.table || self.json || self.json_file.is_some()
    }

    /// Prints a line to stderr; write errors are ignored.
    pub(crate) fn info(&self, text: &str) {
        let _ = writeln!(stderr(), "nc: {text}");
    }

    /// Prints a line where `-v` is given.
    pub(crate) fn verbose(&self, text: &str) {
        if self.is_verbose {
            self.info(text);
        }
    }

    /// Prints that there is no MPTCP, once.
    pub(crate) fn warn_once(&self, text: &str) {
        if !self.fallen_back.swap(true, Ordering::Relaxed) {
            self.info(text);
        }
    }

    /// Prints and writes the account of a connection that has ended.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn account(
        &self,
        peer: &str,
        ended: &Transfer,
        subflows: Option<&SubflowAccount>,
    ) -> Result<(), Failure> {
        let seconds = ended.lasted.as_secs_f64();
        self.verbose(&format!(
            "{peer}: {} bytes sent, {} received in {seconds:.3} s",
            ended.sent, ended.received
        ));
        if let Some(account) = subflows.filter(|account| self.table && account.plain.is_none()) {
            let _ = write!(stderr(), "{}", table(&account.subflows));
        }
        let account = JsonAccount {
            peer,
            bytes_sent: ended.sent,
            bytes_received: ended.received,
            seconds,
            error: ended.result.as_ref().err().map(ToString::to_string),
            subflows,
        };
        let line = serde_json::to_string(&account).expect("an account is JSON");
        if self.json {
            let _ = writeln!(stderr(), "{line}");
        }
        if let Some(mut file) = self.json_file.as_ref() {
            writeln!(file, "{line}").map_err(Failure::of("--json-file"))?;
        }
        Ok(())
    }
}

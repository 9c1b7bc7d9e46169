//! What the command tells, on standard error and as JSON.

use std::fs::File;
use std::io::{Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::failure::Failure;
use crate::options::Options;
use crate::session::Ended;
use crate::steer;
use crate::table::table;

/// Where messages and accounts go.
pub(crate) struct Report {
    verbose: bool,
    table: bool,
    json: bool,
    json_file: Option<File>,
    fallen_back: AtomicBool,
}

/// One connection, as JSON.
#[derive(Serialize)]
struct Account<'a> {
    peer: &'a str,
    bytes_sent: u64,
    bytes_received: u64,
    seconds: f64,
    error: Option<String>,
    #[serde(flatten)]
    subflows: Option<&'a steer::Account>,
}

impl Report {
    /// As the options say.
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
            verbose: options.verbose,
            table: options.verbose || options.subflows.any(),
            json: options.json,
            json_file,
            fallen_back: AtomicBool::new(false),
        })
    }

    /// Whether anybody asks what the subflows do.
    pub(crate) fn wants_subflows(&self) -> bool {
        self.table || self.json || self.json_file.is_some()
    }

    /// A line for everybody. Nobody may be there to read it.
    pub(crate) fn say(&self, text: &str) {
        let _ = writeln!(stderr(), "nc: {text}");
    }

    /// A line for those who want to know (`-v`).
    pub(crate) fn told(&self, text: &str) {
        if self.verbose {
            self.say(text);
        }
    }

    /// That there is no MPTCP: once is enough.
    pub(crate) fn once(&self, text: &str) {
        if !self.fallen_back.swap(true, Ordering::Relaxed) {
            self.say(text);
        }
    }

    /// The account of a connection that has ended.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn account(
        &self,
        peer: &str,
        ended: &Ended,
        subflows: Option<&steer::Account>,
    ) -> Result<(), Failure> {
        let seconds = ended.lasted.as_secs_f64();
        self.told(&format!(
            "{peer}: {} bytes sent, {} received in {seconds:.3} s",
            ended.sent, ended.received
        ));
        if let Some(account) = subflows.filter(|account| self.table && account.plain.is_none()) {
            let _ = write!(stderr(), "{}", table(&account.subflows));
        }
        let account = Account {
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

//! The broker's configuration.

use std::path::PathBuf;

use serde::Deserialize;

use crate::StartError;
use crate::journal::Detail;
use crate::limits::Limits;
use crate::policy::Policy;

/// The broker's configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Path of its socket, unless systemd passes one.
    pub socket: PathBuf,
    /// Permissions of the socket's file.
    #[serde(default = "everybody")]
    pub mode: u32,
    /// The rules: the rights of each client.
    pub policy: Policy,
    /// Limits of each user.
    #[serde(default)]
    pub limits: Limits,
    /// The user that the broker becomes once it has started.
    #[serde(default)]
    pub user: Option<Identity>,
    /// `net.mptcp.path_manager` stays as it is.
    #[serde(default)]
    pub leave_setting: bool,
    /// Actions are not logged.
    #[serde(default)]
    pub quiet: bool,
    /// Commands that clients gave up are logged, too.
    #[serde(default)]
    pub debug: bool,
}

/// A user and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Number of the user.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
}

fn everybody() -> u32 {
    0o666
}

impl Config {
    pub(crate) fn detail(&self) -> Detail {
        match (self.quiet, self.debug) {
            (true, _) => Detail::Quiet,
            (false, false) => Detail::Actions,
            (false, true) => Detail::Debug,
        }
    }

    /// Reads a configuration from JSON.
    ///
    /// # Errors
    /// [`StartError::Config`].
    pub fn parse(json: &str) -> Result<Self, StartError> {
        serde_json::from_str(json).map_err(|error| StartError::Config(error.to_string()))
    }
}

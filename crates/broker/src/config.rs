//! What the broker is told when it starts.

use std::path::PathBuf;

use serde::Deserialize;

use crate::StartError;
use crate::limits::Limits;
use crate::policy::Policy;

/// What the broker is told when it starts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where it listens, unless systemd passes a socket.
    pub socket: PathBuf,
    /// Permissions of the socket's file.
    #[serde(default = "everybody")]
    pub mode: u32,
    /// Who may do what.
    pub policy: Policy,
    /// What one user may have at once.
    #[serde(default)]
    pub limits: Limits,
    /// Whom the broker becomes once it has started.
    #[serde(default)]
    pub user: Option<Identity>,
    /// `net.mptcp.path_manager` stays as it is.
    #[serde(default)]
    pub leave_setting: bool,
    /// Actions are not logged.
    #[serde(default)]
    pub quiet: bool,
}

/// A user, and his group.
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
    /// Reads a configuration from JSON.
    ///
    /// # Errors
    /// [`StartError::Config`].
    pub fn parse(json: &str) -> Result<Self, StartError> {
        serde_json::from_str(json).map_err(|error| StartError::Config(error.to_string()))
    }
}

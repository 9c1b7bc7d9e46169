//! The path manager's configuration.

use serde::{Deserialize, Serialize};

/// The path manager's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The subflows that it opens for connections that this host opened.
    pub paths: Paths,
    /// Announce the host's other addresses on every connection (ADD_ADDR).
    pub signal: bool,
    /// Retry subflows that failed or closed, ever more rarely.
    pub refresh: bool,
    /// The most subflows of a connection, the initial one included.
    pub most_subflows: u32,
    /// The most subflows by the bytes that a connection has carried, in ascending order;
    /// `most_subflows` at once where this is empty.
    pub steps: Vec<Step>,
    /// Interfaces whose subflows are backups.
    pub backup: Vec<String>,
}

/// The subflows that are opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Paths {
    /// None.
    #[default]
    None,
    /// So many on the pair of addresses of the initial one, itself included.
    Ndiffports(u32),
    /// One from each address of the host to each address of the peer.
    Fullmesh,
    /// One at a time, over the first of these interfaces that works: the next is opened before the
    /// last is closed. Interfaces that are not named come last, as the kernel lists them.
    Handover(Vec<String>),
}

/// A number of subflows from a number of bytes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Bytes that the connection has carried, in both directions.
    pub bytes: u64,
    /// The most subflows from then on, the initial one included.
    pub subflows: u32,
}

impl Config {
    /// The most subflows of a connection that has carried so many bytes.
    pub(crate) fn most_subflows_after(&self, bytes: u64) -> u32 {
        if self.steps.is_empty() {
            return self.most_subflows;
        }
        let passed = self.steps.iter().rfind(|step| step.bytes <= bytes);
        passed.map_or(1, |step| step.subflows.min(self.most_subflows))
    }

    /// Tells whether a connection that has carried so many bytes may have more subflows later.
    pub(crate) fn allows_more_after(&self, bytes: u64) -> bool {
        self.steps.last().is_some_and(|step| step.bytes > bytes)
    }

    /// Tells whether subflows move from path to path.
    pub(crate) fn is_handover(&self) -> bool {
        matches!(self.paths, Paths::Handover(_))
    }

    pub(crate) fn is_backup(&self, interface: &str) -> bool {
        self.backup.iter().any(|name| name == interface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subflows_are_allowed_by_what_was_carried() {
        let step = |bytes, subflows| Step { bytes, subflows };
        let config = Config {
            most_subflows: 4,
            steps: vec![step(100_000, 2), step(400_000, 8)],
            ..Config::default()
        };
        let allowed = [0, 99_999, 100_000, 399_999, 400_000];
        let allowed = allowed.map(|bytes| config.most_subflows_after(bytes));
        assert_eq!(allowed, [1, 1, 2, 2, 4]);
    }
}

//! What a path manager is to do.

use serde::{Deserialize, Serialize};

/// What a path manager is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which subflows it opens for connections that this host opened.
    pub paths: Paths,
    /// Announce the host's other addresses on every connection (ADD_ADDR).
    pub signal: bool,
    /// Open again what has failed or closed, ever more rarely.
    pub refresh: bool,
    /// The most subflows of a connection, the initial one included.
    pub most_subflows: u32,
    /// How many subflows a connection may have by what it has carried; as many as there may be at
    /// all where this is empty. In the order of their bytes.
    pub steps: Vec<Step>,
    /// Interfaces whose subflows are backups.
    pub backup: Vec<String>,
}

/// Which subflows are opened.
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
    /// last is closed. Interfaces that are not named come last, in the kernel's order.
    Handover(Vec<String>),
}

/// A number of subflows from a number of bytes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Bytes that the connection has carried, both ways together.
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

    /// Whether a connection that has carried so many bytes may have more subflows later.
    pub(crate) fn allows_more_after(&self, bytes: u64) -> bool {
        self.steps.last().is_some_and(|step| step.bytes > bytes)
    }

    /// Whether subflows change from path to path.
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

//! Captures of packets.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::InterfaceRef;

/// The captures of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Folder of the files `NODE-INTERFACE.pcapng`; it exists.
    pub folder: PathBuf,
    /// Interfaces to capture.
    pub interfaces: Vec<InterfaceRef>,
    /// Bytes kept of each packet.
    pub snap_length: u32,
}

impl Capture {
    /// The file of an interface by its [subject](crate::Plan::subject).
    pub fn file(&self, subject: &str) -> PathBuf {
        self.folder
            .join(format!("{}.pcapng", subject.replace('.', "-")))
    }
}

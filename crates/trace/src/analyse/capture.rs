//! Description of the captures that were read.

use serde_json::{Map, Value, json};

use std::collections::BTreeMap;

use crate::dissect::{Layers, Skipped};
use crate::input::{FileState, Interface, LinkType};

/// Description of the captures that were read.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// The files.
    pub files: Vec<FileState>,
    /// Their interfaces: the number of one is its place.
    pub interfaces: Vec<Interface>,
    /// Frames that were read.
    pub frames: u64,
    /// Those that were segments of TCP.
    pub segments: u64,
    /// The others.
    pub skipped: Skipped,
    /// Segments that were within tunnels or tags, by the headers around them.
    pub layered: BTreeMap<Layers, u64>,
    /// Frames of link types that are not known here.
    pub unknown_link_types: BTreeMap<LinkType, u64>,
    /// Segments that another interface had seen before.
    pub duplicates: u64,
    /// The analysis was stopped: it is of what was read so far.
    pub interrupted: bool,
}

impl Capture {
    /// Formats it as an object of JSON, without line breaks.
    pub fn json(&self) -> String {
        let skipped = self.skipped.reasons().into_iter();
        let skipped: Map<_, _> = skipped
            .filter(|(_, count)| *count > 0)
            .map(|(why, count)| (why.to_owned(), Value::from(count)))
            .collect();
        json!({
            "files": self.files.iter().map(file).collect::<Vec<_>>(),
            "interfaces": self.interfaces.iter().enumerate().map(interface).collect::<Vec<_>>(),
            "frames": self.frames,
            "segments": self.segments,
            "skipped": skipped,
            "unknown_link_types": counts(&self.unknown_link_types),
            "layers": counts(&self.layered),
            "duplicates": self.duplicates,
            "interrupted": self.interrupted,
        })
        .to_string()
    }
}

fn counts<T: ToString>(counts: &BTreeMap<T, u64>) -> Map<String, Value> {
    let each = counts.iter();
    each.map(|(what, count)| (what.to_string(), Value::from(*count)))
        .collect()
}

fn file(file: &FileState) -> Value {
    json!({
        "path": file.path.to_string_lossy(),
        "format": file.format.name(),
        "compression": file.compression.map(|compression| compression.name()),
        "bytes": file.bytes_read,
        "frames": file.frames,
        "first_ns": file.first,
        "last_ns": file.last,
        "damage": file.damage.as_ref().map(|damage| json!({
            "offset": damage.offset,
            "decompressed": damage.decompressed,
            "message": damage.message,
        })),
    })
}

fn interface((number, interface): (usize, &Interface)) -> Value {
    json!({
        "interface": number,
        "file": interface.file,
        "name": interface.name,
        "link_type": interface.link_type.0,
        "link_type_name": interface.link_type.name(),
    })
}

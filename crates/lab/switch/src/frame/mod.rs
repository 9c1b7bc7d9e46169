//! Ethernet frames: their headers, their fields as matches see them, and their changes.

pub(crate) mod checksums;
pub(crate) mod edit;
mod extension;
pub(crate) mod headers;
pub(crate) mod key;

pub(crate) use headers::Headers;
pub(crate) use key::Key;

//! Serialisation.
pub(crate) mod trace;

//! Segments built by hand and what the registry says of them; keys and what follows from them are
//! those of the tests of `keys`, worked out with other software.

mod build;
mod dedup;
mod falling_back;
mod handshakes;
mod hostile;
mod interleaved;
mod middle;
mod pending;
mod resets;
mod reuse;
mod signalling;

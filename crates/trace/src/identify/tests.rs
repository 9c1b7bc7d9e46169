//! Handshakes and what follows them, built by hand; keys and what follows from them are those of
//! the tests of `keys`, worked out with other software.

mod build;
mod handshakes;

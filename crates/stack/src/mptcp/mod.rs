//! Multipath TCP, version 1 (RFC 8684).

mod keys;
mod mappings;
mod numbers;
mod ranges;
mod reassembly;
mod send_queue;

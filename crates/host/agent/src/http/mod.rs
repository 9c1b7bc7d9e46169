//! As much of HTTP/1.1 over TLS as an agent needs: one request at a time, with bounds on time and
//! size. [`answer`] is without I/O.

mod answer;
mod client;
mod roots;

pub use answer::{Answer, Decoder, Malformed};
pub use client::{Client, Request};

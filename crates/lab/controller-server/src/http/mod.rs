//! The API over HTTP/1.1: what the controller knows, to be read, as JSON and as a page; and sizes of
//! transfers, to be told.
//!
//! One thread serves all peers, each with one request and its answer. The controller's own loop is
//! asked for a copy of its state at most twice a second, however many ask for it.

mod access;
mod config;
mod exchange;
mod peer;
mod peers;
mod request;
mod response;
mod routes;
mod server;

pub use config::{HttpConfig, HttpLimits, HttpTls, PageParts};
pub(crate) use exchange::{Answer, Question};
pub(crate) use server::Api;

//! The controller for switches that connect by TCP or TLS: [`mptcplab_controller`] with sockets and
//! a clock.
//!
//! [`Server`] is one loop of one thread, which alone has the controller: it waits for sockets and for
//! the controller's next deadline, passes messages on, and tells what happens as [`Report`]s.
//! Switches may be hostile. One that sends what is no OpenFlow, does not say its features in time or
//! does not read is disconnected; what it can make the server remember has [bounds](Limits).
//!
//! Where [asked for](HttpConfig), a thread of its own serves what the controller knows over HTTP, as
//! JSON and as a page. It gets copies from the loop, which never waits for it.

#![forbid(unsafe_code)]

mod channel;
mod channels;
mod config;
mod document;
mod error;
mod history;
mod http;
mod journal;
mod names;
mod page;
mod ready;
mod report;
mod row;
mod server;
mod snapshot;
mod tls;
mod transport;

pub use config::{Config, Limits, LinkRate, TlsFiles};
pub use error::StartError;
pub use http::{HttpConfig, HttpLimits, HttpTls, PageParts};
pub use journal::{Form, Journal};
pub use report::{Ended, Report};
pub use server::Server;

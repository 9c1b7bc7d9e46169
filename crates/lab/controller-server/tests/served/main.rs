//! The server on the loopback, with switches of ours over real sockets.

mod beginning;
mod certificates;
// Hosts as in the controller's own tests.
#[allow(dead_code)]
#[path = "../../../controller/tests/controller/host.rs"]
mod host;
mod hostile;
mod http_access;
mod http_hostile;
mod http_peer;
mod http_reading;
mod http_telling;
mod network;
mod serving;
mod switches;

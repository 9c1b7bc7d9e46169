//! The controller against our switch, over a network in memory and in virtual time.

mod bounds;
mod carried;
mod deserving;
mod discovery;
mod failover;
mod failures;
mod fallback;
mod handshake;
mod host;
mod hostile;
mod moving;
mod network;
mod plain;
mod properties;
mod queues;
mod roles;
mod sizes;
mod subflows;

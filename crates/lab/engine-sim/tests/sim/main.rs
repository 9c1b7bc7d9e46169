//! The simulator, by behaviour.

mod buffers;
mod capture;
mod copies;
mod determinism;
mod failover;
mod fallback;
mod hosts;
mod interruption;
mod middleboxes;
mod outages;
mod ping;
mod prepared;
mod sizes;
mod support;
mod switches;
mod theory;
mod traffic;
mod unreachable;

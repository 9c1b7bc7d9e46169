//! The simulator, by behaviour.

mod capture;
mod determinism;
mod hosts;
mod ping;
mod support;
mod theory;
mod traffic;

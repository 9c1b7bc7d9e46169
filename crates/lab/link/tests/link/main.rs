//! The promises of the link model, in virtual time.

mod burst;
mod changes;
mod codel;
mod config;
mod half_duplex;
mod half_duplex_trace;
mod impairments;
mod propagation;
mod properties;
mod queueing;
mod serialisation;
mod support;
mod trace;

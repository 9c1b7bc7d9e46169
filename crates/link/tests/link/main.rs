//! What the link model promises, in virtual time.

mod changes;
mod half_duplex;
mod impairments;
mod propagation;
mod queueing;
mod serialisation;
mod support;
mod trace;

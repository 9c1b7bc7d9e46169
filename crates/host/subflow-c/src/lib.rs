//! The C face of [`mptcplab_subflow`]. `include/mptcplab_subflow.h` is its documentation.
//!
//! Every function is one of the crate's; what is added is the passing of arguments ([`argument`],
//! [`address`]), of errors ([`failure`]) and of results by structures of C.

#![deny(unsafe_op_in_unsafe_fn)]

mod address;
mod argument;
mod commands;
mod failure;
mod manager;
mod own;
mod watch;

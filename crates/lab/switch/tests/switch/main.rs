//! The switch by its behaviours.

mod actions;
mod controllers;
mod entries;
mod fields;
mod frames;
mod groups;
mod meters;
mod packet_in;
mod ports;
mod properties;
mod refusals;
mod removed;
mod statistics;
mod support;
mod timeouts;

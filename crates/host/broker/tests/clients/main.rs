//! Clients, honest and hostile, of a broker that is a process of its own.

#[path = "../common/mod.rs"]
mod common;
mod confined;
mod floods;
mod held_up;
mod hostile;
mod journal;
mod lingering;
mod process;
mod rejected;
mod room;
mod session;
mod setting;
mod stage;
mod stuck;
mod users;

//! Clients, honest and hostile, of a broker that is a process of its own.

#[path = "../common/mod.rs"]
mod common;
mod confined;
mod floods;
mod held_up;
mod hostile;
mod process;
mod room;
mod setting;
mod stage;
mod stuck;
mod talk;
mod users;

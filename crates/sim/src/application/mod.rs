//! Applications: what the kernel engine's traffic does over sockets (`docs/recording.md`), between
//! the endpoints of the simulated hosts.

mod conversation;
mod datagrams;
mod end;
mod failure;
mod ftp;
mod http;
mod item;
mod payload;
mod ping;
mod request_response;
mod verdict;

pub(crate) use item::Item;

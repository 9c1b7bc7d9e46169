//! Applications: what the kernel engine's traffic does over sockets (`docs/recording.md`), between
//! the endpoints of the simulated hosts.

mod content;
mod conversation;
mod datagrams;
mod deliveries;
mod end;
mod failure;
mod ftp;
mod http;
mod item;
mod payload;
mod ping;
mod request_response;
mod rows;
mod verdict;

pub(crate) use content::Content;
pub(crate) use item::Item;
pub(crate) use verdict::Mib;

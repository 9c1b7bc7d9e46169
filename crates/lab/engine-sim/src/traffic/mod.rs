//! Traffic generators: the workloads of the kernel engine (`docs/recording.md`) between the stacks
//! of the simulated hosts.

mod conversation;
mod datagrams;
mod end;
mod ftp;
mod http;
mod item;
mod payload;
mod ping;
mod request_response;
mod verdict;

pub(crate) use item::Item;

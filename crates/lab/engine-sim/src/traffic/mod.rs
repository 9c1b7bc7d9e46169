//! Traffic generators: the workloads of the kernel engine (`docs/recording.md`) between the stacks
//! of the simulated hosts.

mod connection_event;
mod conversation;
mod datagrams;
mod end;
mod flow;
mod ftp;
mod http;
mod payload;
mod ping;
mod request_response;
mod side;
mod stream;
mod verdict;
mod wake_up;

pub(crate) use flow::Flow;

//! Namespaces for tests of what talks to the running kernel: hardly one needs privilege, and none is
//! left.

mod hosts;
mod inside;

pub use hosts::{Hosts, ip, run};
pub use inside::{inside, inside_as_root};

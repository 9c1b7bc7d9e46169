//! Endpoints that the kernel's path manager has for a while.

use std::io;
use std::net::IpAddr;

use mptcplab_linux::path_manager::{EndpointFlags, PathManager};

/// An endpoint that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewEndpoint {
    /// The address from which subflows are opened.
    pub address: IpAddr,
    /// The interface that these are bound to, 0 for none.
    pub interface: u32,
}

/// The endpoints and limits that were missing; taken away again when this ends.
pub struct HeldEndpoints {
    manager: PathManager,
    added: Vec<IpAddr>,
    limits: Option<(u32, u32)>,
}

impl HeldEndpoints {
    /// Adds those that are not there, and raises the limit of subflows to their number. All
    /// of it is undone where a part fails.
    ///
    /// # Errors
    /// The kernel's: without CAP_NET_ADMIN over the namespace, and beyond 8 endpoints.
    pub fn hold(wanted: &[NewEndpoint]) -> io::Result<Self> {
        let mut held = Self {
            manager: PathManager::open()?,
            added: Vec::new(),
            limits: None,
        };
        let there = held.manager.endpoints()?;
        let flags = EndpointFlags {
            subflow: true,
            ..EndpointFlags::default()
        };
        for one in wanted {
            if there.iter().all(|endpoint| endpoint.address != one.address) {
                let manager = &mut held.manager;
                manager.add_endpoint_at(one.address, one.interface, flags)?;
                held.added.push(one.address);
            }
        }
        let (subflows, add_addr_accepted) = held.manager.limits()?;
        let needed = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
        if subflows < needed {
            held.manager.set_limits(needed, add_addr_accepted)?;
            held.limits = Some((subflows, add_addr_accepted));
        }
        Ok(held)
    }

    /// Addresses of the endpoints that were added.
    pub fn added(&self) -> &[IpAddr] {
        &self.added
    }
}

impl Drop for HeldEndpoints {
    fn drop(&mut self) {
        let there = self.manager.endpoints().unwrap_or_default();
        for endpoint in there {
            if self.added.contains(&endpoint.address) {
                // Somebody may have taken it away meanwhile.
                let _ = self.manager.delete_endpoint(&endpoint);
            }
        }
        if let Some((subflows, add_addr_accepted)) = self.limits {
            let _ = self.manager.set_limits(subflows, add_addr_accepted);
        }
    }
}

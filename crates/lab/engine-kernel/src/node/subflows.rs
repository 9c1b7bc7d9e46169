//! Subflows that the kernel's path manager does not open by itself, and the flags of its endpoints.

use std::io;
use std::time::Duration;

use mptcplab_linux::path_manager::EndpointFlags;

use super::kernel_flags;
use super::manager::Manager;
use crate::telemetry::subflows;

/// Time for which a returned address may stay without a subflow before the first further try.
pub(super) const FIRST_REJOIN_PAUSE: Duration = Duration::from_millis(100);
/// Time between the last two tries.
const LONGEST_REJOIN_PAUSE: Duration = Duration::from_secs(8);

impl Manager<'_> {
    /// Makes the connections use an address that has come back: tries a few times, ever more
    /// rarely, for a quarter of a minute.
    ///
    /// For a `fullmesh` endpoint the kernel opens subflows, once, to those addresses that other
    /// subflows are using just then, which may all be out of reach from here; for a plain one to
    /// the address to which the connection was opened. What fails is not tried again. So the
    /// endpoint changes between the two until something has joined. (To delete it and add another
    /// would let the peer close the new subflow: the REMOVE_ADDR may arrive after the join.)
    ///
    /// A `signal` endpoint is announced once, over a subflow that may just have died, and again
    /// after two minutes. It is made anew until the peer has joined it.
    ///
    /// One connection that uses the address ends the tries: another would close its subflow.
    pub(super) fn rejoin(&mut self, interface: usize, pause: Duration) -> io::Result<()> {
        let Some(path_manager) = self.path_manager.as_mut() else {
            return Ok(());
        };
        let in_use = subflows::in_use()?;
        if in_use.connections == 0 {
            return Ok(());
        }
        let wanted = self.node.interfaces[interface].endpoint.unwrap_or_default();
        let managed = &mut self.managed[interface];
        for endpoint in path_manager.endpoints()? {
            let is_here = managed
                .installed
                .iter()
                .any(|prefix| prefix.address == endpoint.address);
            if !is_here || in_use.local_addresses.contains(&endpoint.address) {
                continue;
            }
            if wanted.fullmesh {
                let fullmesh = !endpoint.flags.fullmesh;
                path_manager.set_flags(
                    &endpoint,
                    EndpointFlags {
                        fullmesh,
                        ..endpoint.flags
                    },
                )?;
            } else if wanted.signal {
                path_manager.delete_endpoint(&endpoint)?;
                path_manager.add_endpoint(endpoint.address, endpoint.flags)?;
            }
            let next = pause * 2;
            let now = self.recorder.clock().instant();
            managed.rejoin = (next <= LONGEST_REJOIN_PAUSE).then(|| (now + next, next));
        }
        Ok(())
    }

    /// Changes the backup flag of an interface's endpoints, also of those that are still to come.
    pub(super) fn set_backup(&mut self, interface: usize, backup: bool) -> io::Result<()> {
        self.managed[interface].backup = Some(backup);
        let subject = self.subject(interface);
        let addresses = &self.node.interfaces[interface].addresses;
        let none = || io::Error::other(format!("{subject} has no MPTCP endpoint"));
        self.endpoint_flags(interface).ok_or_else(none)?;
        let path_manager = self.path_manager.as_mut().ok_or_else(none)?;
        for endpoint in path_manager.endpoints()? {
            if addresses
                .iter()
                .any(|prefix| prefix.address == endpoint.address)
            {
                path_manager.set_flags(
                    &endpoint,
                    EndpointFlags {
                        backup,
                        ..endpoint.flags
                    },
                )?;
            }
        }
        Ok(())
    }

    /// Present flags of an interface's endpoints.
    pub(super) fn endpoint_flags(&self, interface: usize) -> Option<EndpointFlags> {
        let planned = self.interface(interface).endpoint?;
        let backup = self.managed[interface].backup.unwrap_or(planned.backup);
        Some(EndpointFlags {
            backup,
            ..kernel_flags(planned)
        })
    }
}

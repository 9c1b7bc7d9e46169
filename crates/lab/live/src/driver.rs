//! A world that is stepped by the real clock.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use mptcplab_engine_sim::World;
use mptcplab_plan::InterfaceRef;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::Tun;

/// Longest sleep, so that what happens outside of the world is seen.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

/// Packets that are taken from a device before others have their turn.
const BURST: usize = 64;

/// A world with a real host at its edge.
pub struct Live {
    world: World,
    node: usize,
    devices: Vec<Tun>,
    start: Instant,
}

impl Live {
    /// Time 0 of the world is now. `node` is the real host; its interfaces are `devices`, in the
    /// order of the plan.
    pub fn new(mut world: World, node: usize, devices: Vec<Tun>) -> Self {
        world.put_outside(node);
        Self {
            world,
            node,
            devices,
            start: Instant::now(),
        }
    }

    /// Runs the world. `act` is called whenever something may have happened, and at least every
    /// few milliseconds: there the applications of the world act, until it breaks.
    ///
    /// # Errors
    /// Where a device is gone.
    pub fn run(&mut self, mut act: impl FnMut(&mut World) -> ControlFlow<()>) -> io::Result<()> {
        loop {
            self.world.run_until(self.elapsed_ns());
            if act(&mut self.world).is_break() {
                self.send_out();
                return Ok(());
            }
            self.send_out();
            self.sleep()?;
            self.world.run_until(self.elapsed_ns());
            self.take_in()?;
        }
    }

    fn elapsed_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Hands to the host what has reached it.
    fn send_out(&mut self) {
        while let Some((interface, packet)) = self.world.fetch(self.node) {
            self.devices[interface].send(&packet);
        }
    }

    /// Takes what the host has sent.
    fn take_in(&mut self) -> io::Result<()> {
        for (interface, device) in self.devices.iter_mut().enumerate() {
            let from = InterfaceRef {
                node: self.node,
                interface,
            };
            for _ in 0..BURST {
                let Some(packet) = device.receive()? else {
                    break;
                };
                self.world.inject(from, packet);
            }
        }
        Ok(())
    }

    /// Waits for a packet of the host, or for the next thing that happens in the world.
    fn sleep(&self) -> io::Result<()> {
        let due = self.world.next_deadline().unwrap_or(u64::MAX);
        let left = Duration::from_nanos(due.saturating_sub(self.elapsed_ns()));
        let mut waiting: Vec<PollFd<'_>> = self
            .devices
            .iter()
            .map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN))
            .collect();
        let timeout = TimeSpec::from_duration(left.min(LONGEST_SLEEP));
        match ppoll(&mut waiting, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

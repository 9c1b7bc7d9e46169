//! A TUN device: IP packets between a kernel and this process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use mptcplab_wire::Packet;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Largest IP packet.
const LARGEST_PACKET: usize = 65_535;

/// An interface of a real host, whose wire is this process. It is gone with this value.
pub struct Tun {
    device: SyncDevice,
    buffer: Vec<u8>,
}

impl Tun {
    /// Makes an interface in the namespace of the calling thread, up and without an address.
    ///
    /// # Errors
    /// Where there is no TUN device, or no privilege over the namespace.
    pub fn open(name: &str, mtu: u16) -> io::Result<Self> {
        let device = DeviceBuilder::new().name(name).mtu(mtu).build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Self {
            device,
            buffer: vec![0; LARGEST_PACKET],
        })
    }

    /// The kernel's index of the interface.
    ///
    /// # Errors
    /// Where the interface is gone.
    pub fn index(&self) -> io::Result<u32> {
        self.device.if_index()
    }

    /// The next packet that the host has sent, if any. What is no packet ([`Packet::read`]) is
    /// left out.
    ///
    /// # Errors
    /// Where the interface is gone.
    pub fn receive(&mut self) -> io::Result<Option<Packet>> {
        loop {
            match self.device.recv(&mut self.buffer) {
                Ok(length) => {
                    let bytes = Bytes::copy_from_slice(&self.buffer[..length]);
                    if let Ok(packet) = Packet::read(bytes) {
                        return Ok(Some(packet));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Lets the host receive a packet. One that it does not take, because its queue is full or the
    /// interface is down, is lost, as on any wire.
    pub fn send(&mut self, packet: &Packet) {
        self.buffer.clear();
        packet.write_to(&mut self.buffer);
        self.device.send(&self.buffer).ok();
        self.buffer.resize(LARGEST_PACKET, 0);
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

//! A TAP device with offloads as a way of frames: one system call for each.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use mptcplab_engine_kernel::frames::port::Outgoing;
use mptcplab_engine_kernel::frames::segments::{Frame, OffloadHeader};

const IFF_TAP: u16 = 0x0002;
const IFF_NO_PI: u16 = 0x1000;
const IFF_VNET_HDR: u16 = 0x4000;
const TUN_F_CSUM: libc::c_ulong = 0x01;
const TUN_F_TSO4: libc::c_ulong = 0x02;
const TUN_F_TSO6: libc::c_ulong = 0x04;
const TUN_F_TSO_ECN: libc::c_ulong = 0x08;
const LARGEST: usize = 65535 + 14 + OffloadHeader::BYTES;

nix::ioctl_write_int!(tun_set_interface, b'T', 202);
nix::ioctl_write_int!(tun_set_offload, b'T', 208);

/// `struct ifreq` as far as TUNSETIFF reads it.
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// The file of a TAP device.
pub(crate) struct Tap {
    file: File,
    buffer: Vec<u8>,
}

impl Tap {
    /// Makes the device in the calling thread's namespace.
    pub(crate) fn open(name: &str, offload: bool) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        let mut request = Request {
            name: [0; 16],
            flags: IFF_TAP | IFF_NO_PI | IFF_VNET_HDR,
            rest: [0; 22],
        };
        request.name[..name.len()].copy_from_slice(name.as_bytes());
        let offloads = if offload {
            TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN
        } else {
            TUN_F_CSUM
        };
        // SAFETY: the kernel reads a request that outlives the call, and a number.
        unsafe {
            tun_set_interface(file.as_raw_fd(), &raw const request as libc::c_ulong)?;
            tun_set_offload(file.as_raw_fd(), offloads)?;
        }
        Ok(Self {
            file,
            buffer: vec![0; LARGEST],
        })
    }

    pub(crate) fn receive(&mut self) -> Option<Frame> {
        // A device that is down or empty has nothing.
        let length = self.file.read(&mut self.buffer).ok()?;
        let (offload, frame) = self.buffer[..length].split_at(OffloadHeader::BYTES);
        let offload = OffloadHeader::from_bytes(offload.try_into().expect("split there"));
        Some(Frame::new(offload, frame.to_vec()))
    }

    pub(crate) fn send(&mut self, frames: &[Outgoing<'_>]) -> io::Result<()> {
        for (offload, bytes) in frames {
            let header = offload.to_bytes();
            let parts = [IoSlice::new(&header), IoSlice::new(bytes)];
            // A device takes a frame whole.
            if self.file.write_vectored(&parts)? != header.len() + bytes.len() {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }
}

impl AsFd for Tap {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

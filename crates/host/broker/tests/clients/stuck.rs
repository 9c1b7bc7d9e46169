//! Memory that the kernel waits for.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const PAGE_BYTES: usize = 4096;
/// `UFFDIO_API`, `UFFDIO_REGISTER` of `linux/userfaultfd.h`.
const API: libc::c_ulong = 0xc018_aa3f;
const REGISTER: libc::c_ulong = 0xc020_aa00;
const API_VERSION: u64 = 0xaa;
const MODE_MISSING: u64 = 1;
/// `struct uffd_msg`
const FAULT_BYTES: usize = 32;

/// A page that is never supplied: reading it waits until this is dropped (userfaultfd(2)).
pub(crate) struct Stuck {
    page: usize,
    faults: OwnedFd,
}

impl Stuck {
    pub(crate) fn new() -> io::Result<Self> {
        let check = |result: i64| match result {
            -1 => Err(io::Error::last_os_error()),
            result => Ok(result),
        };
        // SAFETY: plain system calls; the structures are those of the kernel's header, and the page
        // is of this value alone.
        unsafe {
            let faults = check(libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC))?;
            let faults = OwnedFd::from_raw_fd(faults as i32);
            let mut api = [API_VERSION, 0, 0];
            check(libc::ioctl(faults.as_raw_fd(), API, api.as_mut_ptr()).into())?;
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let page = libc::mmap(std::ptr::null_mut(), PAGE_BYTES, protection, kind, -1, 0);
            check(page as i64)?;
            let mut register = [page as u64, PAGE_BYTES as u64, MODE_MISSING, 0];
            check(libc::ioctl(faults.as_raw_fd(), REGISTER, register.as_mut_ptr()).into())?;
            Ok(Self {
                page: page as usize,
                faults,
            })
        }
    }

    /// Waits until so many read the page.
    pub(crate) fn wait_for_readers(&self, count: usize) {
        for _ in 0..count {
            let mut message = [0; FAULT_BYTES];
            let read = rustix::io::read(&self.faults, &mut message);
            assert_eq!(read, Ok(FAULT_BYTES));
        }
    }

    /// Sends the page: the socket is locked until this is gone. The page stays mapped.
    pub(crate) fn send(page: usize, socket: BorrowedFd<'_>) {
        // SAFETY: the kernel reads a page that is mapped until the process ends.
        unsafe { libc::send(socket.as_raw_fd(), page as *const _, PAGE_BYTES, 0) };
    }

    pub(crate) fn page(&self) -> usize {
        self.page
    }
}

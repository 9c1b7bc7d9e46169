//! An object of programs and maps, loaded into the kernel.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::ptr::NonNull;

use crate::libbpf::{self, Libbpf, Link, Map, OpenOptions, Program};
use crate::{Error, kernel};

pub(crate) const KERNEL_TYPES: &str = "/sys/kernel/btf/vmlinux";
/// Room for what the verifier says; of older kernels it is all that it says.
const LOG_BYTES: usize = 1 << 20;

/// Programs and maps that live as long as this, or as what holds them in the kernel.
pub(crate) struct Loaded {
    library: &'static Libbpf,
    object: NonNull<libbpf::Object>,
    what: String,
}

// SAFETY: libbpf ties an object to no thread; it only wants one at a time, and so does a `Loaded`.
unsafe impl Send for Loaded {}

impl Loaded {
    /// Loads an object, of which errors speak as `what`. The map `flagged.0` gets the flags
    /// `flagged.1`.
    pub(crate) fn load(
        bytes: &[u8],
        what: &str,
        flagged: Option<(&CStr, u32)>,
    ) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::NotBuilt);
        }
        if !Path::new(KERNEL_TYPES).exists() {
            return Err(Error::NoTypes);
        }
        let library = libbpf::library()?;
        libbpf::take_said();
        let mut log = vec![0_u8; LOG_BYTES];
        let name = CString::new(what).expect("a name of ours");
        let options = OpenOptions {
            // Without the padding at its end, which has to be zero where it counts.
            size: offset_of!(OpenOptions, kernel_log_level) + size_of::<u32>(),
            object_name: name.as_ptr(),
            relaxed_maps: false,
            pin_root_path: std::ptr::null(),
            attach_prog_fd: 0,
            kconfig: std::ptr::null(),
            btf_custom_path: std::ptr::null(),
            kernel_log_buf: log.as_mut_ptr().cast(),
            kernel_log_size: log.len(),
            kernel_log_level: 0,
        };
        // SAFETY: the bytes are copied; the options live until the object is loaded, and so does
        // the log, which is not used after.
        let object = unsafe {
            (library.bpf_object__open_mem)(bytes.as_ptr().cast(), bytes.len(), &raw const options)
        };
        let object = NonNull::new(object).ok_or_else(|| {
            let error = last_error();
            failure(what, "", error).explained(&libbpf::take_said())
        })?;
        let loaded = Self {
            library,
            object,
            what: what.to_owned(),
        };
        if let Some((map, flags)) = flagged {
            let map = loaded.map(map)?;
            // SAFETY: a map of the object.
            let status = unsafe { (library.bpf_map__set_map_flags)(map, flags) };
            loaded.check(status)?;
        }
        // SAFETY: an object that was opened.
        let status = unsafe { (library.bpf_object__load)(loaded.object.as_ptr()) };
        if status < 0 {
            let said = CStr::from_bytes_until_nul(&log).unwrap_or_default();
            let error = io::Error::from_raw_os_error(-status);
            let failed = failure(what, &said.to_string_lossy(), error);
            return Err(failed.explained(&libbpf::take_said()));
        }
        Ok(loaded)
    }

    /// The descriptor of a map.
    pub(crate) fn map_descriptor(&self, name: &CStr) -> Result<BorrowedFd<'_>, Error> {
        let map = self.map(name)?;
        // SAFETY: a map of the object, which is loaded and holds the descriptor as long as it
        // lives.
        unsafe { Ok(BorrowedFd::borrow_raw((self.library.bpf_map__fd)(map))) }
    }

    /// Registers a map of operations, which stay registered by the map itself, or, where the map
    /// has `BPF_F_LINK`, as long as the descriptor that is given is open.
    pub(crate) fn register(&self, name: &CStr, is_linked: bool) -> Result<Option<OwnedFd>, Error> {
        let map = self.map(name)?;
        // SAFETY: a map of the object, which is loaded.
        let link = unsafe { (self.library.bpf_map__attach_struct_ops)(map) };
        let link = Attached::new(self, link)?;
        if !is_linked {
            link.leave();
            return Ok(None);
        }
        let map = self.map_descriptor(name)?;
        let descriptor = link.descriptor();
        if descriptor.as_raw_fd() != map.as_raw_fd() {
            return self.own(descriptor).map(Some);
        }
        // libbpf 1.1 knows no links of operations: it has filled the map, and nothing more.
        // SAFETY: plain system call on an open descriptor.
        let created = unsafe {
            let nothing = std::ptr::null();
            (self.library.bpf_link_create)(map.as_raw_fd(), 0, BPF_STRUCT_OPS, nothing)
        };
        link.leave();
        self.check(created)?;
        // SAFETY: the kernel has just made the descriptor for us.
        Ok(Some(unsafe { OwnedFd::from_raw_fd(created) }))
    }

    /// Unregisters a map of operations that [`register`](Self::register) left registered by the map
    /// itself.
    pub(crate) fn unregister(&self, name: &CStr) -> Result<(), Error> {
        kernel::unregister(self.map_descriptor(name)?)
    }

    /// Attaches an iterator; the descriptor holds its program and the program's maps.
    pub(crate) fn iterator(&self, name: &CStr) -> Result<OwnedFd, Error> {
        // SAFETY: the object lives, the name ends with a zero.
        let program = unsafe {
            (self.library.bpf_object__find_program_by_name)(self.object.as_ptr(), name.as_ptr())
        };
        let program = NonNull::new(program).ok_or_else(|| self.lacks(name))?;
        let program: *const Program = program.as_ptr();
        // SAFETY: a program of the object, which is loaded; no options.
        let link = unsafe { (self.library.bpf_program__attach_iter)(program, std::ptr::null()) };
        self.own(Attached::new(self, link)?.descriptor())
    }

    fn map(&self, name: &CStr) -> Result<*mut Map, Error> {
        // SAFETY: the object lives, the name ends with a zero.
        let map = unsafe {
            (self.library.bpf_object__find_map_by_name)(self.object.as_ptr(), name.as_ptr())
        };
        NonNull::new(map)
            .map(NonNull::as_ptr)
            .ok_or_else(|| self.lacks(name))
    }

    fn own(&self, descriptor: BorrowedFd<'_>) -> Result<OwnedFd, Error> {
        descriptor
            .try_clone_to_owned()
            .map_err(|error| failure(&self.what, "", error))
    }

    fn lacks(&self, name: &CStr) -> Error {
        let reason = format!("{} is not in its object", name.to_string_lossy());
        failure(&self.what, &reason, io::ErrorKind::NotFound.into())
    }

    fn check(&self, status: i32) -> Result<(), Error> {
        if status < 0 {
            let error = io::Error::from_raw_os_error(-status);
            return Err(failure(&self.what, "", error));
        }
        Ok(())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: opened by us, closed once.
        unsafe { (self.library.bpf_object__close)(self.object.as_ptr()) }
    }
}

/// `BPF_STRUCT_OPS` of `enum bpf_attach_type`.
const BPF_STRUCT_OPS: u32 = 44;

/// libbpf's account of something attached; detaches it at its end where the kernel does not.
struct Attached<'a> {
    library: &'static Libbpf,
    link: NonNull<Link>,
    _object: &'a Loaded,
}

impl<'a> Attached<'a> {
    fn new(object: &'a Loaded, link: *mut Link) -> Result<Self, Error> {
        let link = NonNull::new(link).ok_or_else(|| failure(&object.what, "", last_error()))?;
        Ok(Self {
            library: object.library,
            link,
            _object: object,
        })
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        // SAFETY: the link lives, and its descriptor with it.
        unsafe { BorrowedFd::borrow_raw((self.library.bpf_link__fd)(self.link.as_ptr())) }
    }

    /// Forgets it without detaching.
    fn leave(self) {
        // SAFETY: the link lives.
        unsafe { (self.library.bpf_link__disconnect)(self.link.as_ptr()) }
    }
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        // SAFETY: made by libbpf, destroyed once.
        unsafe { (self.library.bpf_link__destroy)(self.link.as_ptr()) };
    }
}

fn last_error() -> io::Error {
    io::Error::last_os_error()
}

fn failure(what: &str, log: &str, error: io::Error) -> Error {
    if error.raw_os_error() == Some(libc::EPERM) {
        return Error::NotPermitted;
    }
    Error::refused(what, error, log)
}

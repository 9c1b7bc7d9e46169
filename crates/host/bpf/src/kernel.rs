//! Programs, maps and links in the kernel, of any process.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::Error;
use crate::libbpf::{Libbpf, library};

const MAP_TYPE_STRUCT_OPS: u32 = 26;
const LINK_TYPE_STRUCT_OPS: u32 = 9;
/// The flag of a map whose operations are registered by links.
pub(crate) const BPF_F_LINK: u32 = 1 << 13;

/// The beginning of `struct bpf_map_info`.
#[repr(C)]
#[derive(Default)]
struct MapInfo {
    kind: u32,
    id: u32,
    key_bytes: u32,
    value_bytes: u32,
    max_entries: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    /// Number of the kernel's type of a value, of operations.
    value_type: u32,
}

/// The beginning of `struct bpf_link_info`, of a link of operations.
#[repr(C)]
#[derive(Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program_id: u32,
    _unused: u32,
    map_id: u32,
}

/// A map of operations.
pub(crate) struct Operations {
    pub(crate) descriptor: OwnedFd,
    pub(crate) is_linked: bool,
    pub(crate) value_type: u32,
    name: [u8; 16],
    value_bytes: u32,
    id: u32,
}

impl Operations {
    /// Whether they are registered by the map itself.
    pub(crate) fn is_registered(&self) -> Result<bool, Error> {
        const IN_USE: u32 = 1;
        Ok(self.value()?.is_some_and(|value| value[1] == IN_USE))
    }

    /// The operations after a count and the state; none where they were never set.
    pub(crate) fn value(&self) -> Result<Option<Vec<u32>>, Error> {
        let mut value = vec![0_u32; (self.value_bytes as usize).div_ceil(4).max(2)];
        let key = 0_u32;
        // SAFETY: key and value are as large as the kernel says.
        let status = unsafe {
            (library()?.bpf_map_lookup_elem)(
                self.descriptor.as_raw_fd(),
                (&raw const key).cast(),
                value.as_mut_ptr().cast(),
            )
        };
        Ok((status == 0).then_some(value))
    }

    /// Unregisters the operations of the map itself.
    pub(crate) fn unregister(&self) -> Result<(), Error> {
        unregister(self.descriptor.as_fd())
    }
}

/// Unregisters the operations of a map.
pub(crate) fn unregister(map: BorrowedFd<'_>) -> Result<(), Error> {
    let key = 0_u32;
    // SAFETY: the key is as large as the kernel says.
    let status =
        unsafe { (library()?.bpf_map_delete_elem)(map.as_raw_fd(), (&raw const key).cast()) };
    check(status, "unregistering operations").map(drop)
}

/// All maps of operations of this name.
pub(crate) fn operations(name: &CStr) -> Result<Vec<Operations>, Error> {
    let mut found = all_operations()?;
    found.retain(|map| CStr::from_bytes_until_nul(&map.name).unwrap_or_default() == name);
    Ok(found)
}

/// All maps of operations.
pub(crate) fn all_operations() -> Result<Vec<Operations>, Error> {
    let library = library()?;
    let mut found = Vec::new();
    for_each(
        library.bpf_map_get_next_id,
        library.bpf_map_get_fd_by_id,
        |map| {
            let info: MapInfo = info(library, &map)?;
            if info.kind == MAP_TYPE_STRUCT_OPS {
                found.push(Operations {
                    descriptor: map,
                    is_linked: info.flags & BPF_F_LINK != 0,
                    value_type: info.value_type,
                    name: info.name,
                    value_bytes: info.value_bytes,
                    id: info.id,
                });
            }
            Ok(())
        },
    )?;
    Ok(found)
}

/// A link that has registered operations of this name.
pub(crate) fn link(name: &CStr) -> Result<Option<OwnedFd>, Error> {
    let maps: Vec<u32> = operations(name)?.iter().map(|map| map.id).collect();
    let library = library()?;
    let mut found = None;
    for_each(
        library.bpf_link_get_next_id,
        library.bpf_link_get_fd_by_id,
        |link| {
            let info: LinkInfo = info(library, &link)?;
            if info.kind == LINK_TYPE_STRUCT_OPS && maps.contains(&info.map_id) {
                found = Some(link);
            }
            Ok(())
        },
    )?;
    Ok(found)
}

type NextId = unsafe extern "C" fn(u32, *mut u32) -> i32;
type ById = unsafe extern "C" fn(u32) -> i32;

/// Opens everything of a kind, one after the other; what goes meanwhile is left out.
fn for_each(
    next: NextId,
    open: ById,
    mut take: impl FnMut(OwnedFd) -> Result<(), Error>,
) -> Result<(), Error> {
    const LISTING: &str = "listing what is loaded";
    let mut id = 0;
    loop {
        // SAFETY: the number is written to.
        let status = unsafe { next(id, &raw mut id) };
        if status == -libc::ENOENT {
            return Ok(());
        }
        check(status, LISTING)?;
        // SAFETY: no memory is passed.
        let descriptor = unsafe { open(id) };
        if descriptor == -libc::ENOENT {
            continue;
        }
        if descriptor == -libc::EAGAIN {
            // It is just being made.
            id -= 1;
            continue;
        }
        check(descriptor, LISTING)?;
        // SAFETY: the kernel has just made the descriptor for us.
        take(unsafe { OwnedFd::from_raw_fd(descriptor) })?;
    }
}

fn info<T: Default>(library: &Libbpf, descriptor: &OwnedFd) -> Result<T, Error> {
    let mut info = T::default();
    let mut bytes = size_of::<T>() as u32;
    // SAFETY: the kernel writes at most the bytes that it is told; any bytes are numbers.
    let status = unsafe {
        (library.bpf_obj_get_info_by_fd)(
            descriptor.as_raw_fd(),
            (&raw mut info).cast(),
            &raw mut bytes,
        )
    };
    check(status, "telling what is loaded")?;
    Ok(info)
}

/// Replaces the only value of an array.
pub(crate) fn write_value<T>(map: BorrowedFd<'_>, value: &T) -> Result<(), Error> {
    let key = 0_u32;
    // SAFETY: the map's keys and values have these types.
    let status = unsafe {
        (library()?.bpf_map_update_elem)(
            map.as_raw_fd(),
            (&raw const key).cast(),
            std::ptr::from_ref(value).cast(),
            0,
        )
    };
    check(status, "a request to a program").map(drop)
}

/// The error that a function of libbpf has given as a negative number.
pub(crate) fn check(status: i32, what: &str) -> Result<i32, Error> {
    match status {
        _ if status >= 0 => Ok(status),
        error if error == -libc::EPERM => Err(Error::NotPermitted),
        error => {
            let error = io::Error::from_raw_os_error(-error);
            Err(Error::refused(what, error, ""))
        }
    }
}

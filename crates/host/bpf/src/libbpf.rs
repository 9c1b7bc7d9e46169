//! The functions of libbpf that are used, from the distribution's library.
//!
//! It is opened when it is first needed, so that mptcplab is built and runs where it is missing.
//! Names, types and meaning: `libbpf.h` and `bpf.h` of libbpf 1.0.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::os::unix::Library;

use crate::Error;

const LIBRARY: &str = "libbpf.so.1";

/// An object: programs and maps of one file.
#[repr(C)]
pub(crate) struct Object {
    _private: [u8; 0],
}

/// A map of an object.
#[repr(C)]
pub(crate) struct Map {
    _private: [u8; 0],
}

/// A program of an object.
#[repr(C)]
pub(crate) struct Program {
    _private: [u8; 0],
}

/// Something attached.
#[repr(C)]
pub(crate) struct Link {
    _private: [u8; 0],
}

/// `struct bpf_object_open_opts`, as of libbpf 1.0.
#[repr(C)]
pub(crate) struct OpenOptions {
    pub(crate) size: usize,
    pub(crate) object_name: *const c_char,
    pub(crate) relaxed_maps: bool,
    pub(crate) pin_root_path: *const c_char,
    pub(crate) attach_prog_fd: u32,
    pub(crate) kconfig: *const c_char,
    pub(crate) btf_custom_path: *const c_char,
    pub(crate) kernel_log_buf: *mut c_char,
    pub(crate) kernel_log_size: usize,
    pub(crate) kernel_log_level: u32,
}

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        // The names are libbpf's.
        #[allow(non_snake_case)]
        /// The library, open for as long as the process lives.
        pub(crate) struct Libbpf {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Libbpf {
            fn open() -> Result<Self, libloading::Error> {
                // SAFETY: libbpf does nothing when it is loaded.
                let library = unsafe { Library::new(LIBRARY) }?;
                let functions = Self {
                    $($name: {
                        let name = concat!(stringify!($name), "\0").as_bytes();
                        // SAFETY: the type is the one that libbpf declares.
                        *unsafe { library.get(name) }?
                    },)*
                };
                // The functions are to stay where they are.
                std::mem::forget(library);
                Ok(functions)
            }
        }
    };
}

functions! {
    libbpf_set_print(*const c_void) -> *const c_void;
    bpf_object__open_mem(*const c_void, usize, *const OpenOptions) -> *mut Object;
    bpf_object__load(*mut Object) -> c_int;
    bpf_object__close(*mut Object);
    bpf_object__find_map_by_name(*const Object, *const c_char) -> *mut Map;
    bpf_object__find_program_by_name(*const Object, *const c_char) -> *mut Program;
    bpf_map__fd(*const Map) -> c_int;
    bpf_map__set_map_flags(*mut Map, u32) -> c_int;
    bpf_map__attach_struct_ops(*const Map) -> *mut Link;
    bpf_program__attach_iter(*const Program, *const c_void) -> *mut Link;
    bpf_link__fd(*const Link) -> c_int;
    bpf_link__disconnect(*mut Link);
    bpf_link__destroy(*mut Link) -> c_int;
    bpf_link_create(c_int, c_int, c_uint, *const c_void) -> c_int;
    bpf_iter_create(c_int) -> c_int;
    bpf_map_update_elem(c_int, *const c_void, *const c_void, u64) -> c_int;
    bpf_map_lookup_elem(c_int, *const c_void, *mut c_void) -> c_int;
    bpf_map_delete_elem(c_int, *const c_void) -> c_int;
    bpf_map_get_next_id(u32, *mut u32) -> c_int;
    bpf_map_get_fd_by_id(u32) -> c_int;
    bpf_link_get_next_id(u32, *mut u32) -> c_int;
    bpf_link_get_fd_by_id(u32) -> c_int;
    bpf_obj_get_info_by_fd(c_int, *mut c_void, *mut u32) -> c_int;
}

thread_local! {
    /// The warnings of libbpf on this thread.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}
/// So many bytes of them are kept, the last ones.
const MOST_SAID: usize = 16 * 1024;
/// `LIBBPF_WARN`.
const WARNING: c_int = 0;

/// Takes the warnings that libbpf has uttered on this thread.
pub(crate) fn take_said() -> String {
    SAID.take()
}

unsafe extern "C" {
    /// C's own; a `va_list` is passed as a pointer in the calling conventions of x86-64 and AArch64.
    fn vsnprintf(
        to: *mut c_char,
        bytes: usize,
        format: *const c_char,
        arguments: *mut c_void,
    ) -> c_int;
}

/// Print function for libbpf: keeps warnings, prints nothing.
unsafe extern "C" fn keep(level: c_int, format: *const c_char, arguments: *mut c_void) -> c_int {
    if level == WARNING {
        let mut line = [0_u8; 1024];
        // SAFETY: libbpf's format and its arguments; the text is cut to the room that it has.
        unsafe { vsnprintf(line.as_mut_ptr().cast(), line.len(), format, arguments) };
        let line = CStr::from_bytes_until_nul(&line).unwrap_or_default();
        SAID.with_borrow_mut(|said| {
            said.push_str(&line.to_string_lossy());
            let too_many = said.len().saturating_sub(MOST_SAID);
            let kept = (too_many..).find(|&from| said.is_char_boundary(from));
            said.drain(..kept.unwrap_or_default());
        });
    }
    0
}

/// The library, quiet.
pub(crate) fn library() -> Result<&'static Libbpf, Error> {
    static LIBRARY: OnceLock<Result<Libbpf, String>> = OnceLock::new();
    let opened = LIBRARY.get_or_init(|| {
        let library = Libbpf::open().map_err(|error| error.to_string())?;
        // SAFETY: the function has the type that libbpf declares, and lives for ever.
        unsafe { (library.libbpf_set_print)(keep as *const c_void) };
        Ok(library)
    });
    opened
        .as_ref()
        .map_err(|reason| match cfg!(target_feature = "crt-static") {
            true => Error::StaticProgram(reason.clone()),
            false => Error::NoLibrary(reason.clone()),
        })
}

//! Errors as codes and messages.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mptcplab_subflow::Error;

/// An argument that is not one; the text says which and why.
pub(crate) struct Invalid(pub(crate) String);

/// Why a call fails.
pub(crate) enum Failure {
    Error(Error),
    Invalid(Invalid),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid(invalid)
    }
}

const INVALID: c_int = -27;
const FAULT: c_int = -28;

/// Name and meaning of the codes -1, -2 …
const CODES: [(&CStr, &CStr); 30] = [
    (c"not_mptcp", c"the socket is of another protocol"),
    (c"not_connected", c"the socket is not connected"),
    (
        c"not_established",
        c"the peer has not confirmed the handshake yet",
    ),
    (c"fell_back", c"the connection has fallen back to TCP"),
    (
        c"kernel_path_manager",
        c"the connection was opened under the kernel's own path manager",
    ),
    (c"no_such_subflow", c"the connection has no such subflow"),
    (
        c"limit_reached",
        c"the connection may not have more subflows",
    ),
    (
        c"not_local",
        c"no address of this host, or its port is taken",
    ),
    (c"no_route", c"no route from that address to the peer"),
    (
        c"families_differ",
        c"one address is of IPv4, the other of IPv6",
    ),
    (c"no_interface", c"there is no such interface"),
    (c"refused", c"refused by the peer"),
    (c"timed_out", c"no answer from the peer"),
    (c"interrupted", c"interrupted"),
    (
        c"no_such_address",
        c"the connection has announced no address with this id",
    ),
    (
        c"no_id_left",
        c"all ids of addresses of the connection are taken",
    ),
    (c"not_privileged", c"needs CAP_NET_ADMIN, or a broker"),
    (c"no_broker", c"the broker cannot be reached"),
    (c"forbidden", c"the broker's policy forbids it"),
    (c"too_many", c"too many at once"),
    (
        c"foreign_namespace",
        c"the socket is of another network namespace",
    ),
    (c"option_refused", c"the option cannot be used on a subflow"),
    (c"needs_bpf", c"an option on one subflow needs BPF"),
    (c"no_mptcp", c"this kernel has no MPTCP"),
    (
        c"protocol",
        c"program and broker do not understand each other",
    ),
    (c"kernel", c"the kernel refused"),
    (c"invalid", c"invalid argument"),
    (c"fault", c"a fault of the library"),
    (c"closing", c"the connection is being closed"),
    (
        c"already_known",
        c"the peer knows the address as that of the first subflow",
    ),
];

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Does the work of a call: its number, or the code of its failure, whose message is kept. No panic
/// leaves it.
pub(crate) fn call(work: impl FnOnce() -> Result<c_int, Failure>) -> c_int {
    let (code, message) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(number)) => return number,
        Ok(Err(Failure::Error(error))) => (code(&error), error.to_string()),
        Ok(Err(Failure::Invalid(Invalid(message)))) => (INVALID, message),
        Err(_) => (FAULT, "a fault of the library".to_owned()),
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // A thread that ends has no place for it any more.
    let _ = LAST.try_with(|last| last.replace(message));
    code
}

/// The code of an error.
fn code(error: &Error) -> c_int {
    match error {
        Error::NotMptcp => -1,
        Error::NotConnected => -2,
        Error::NotEstablished => -3,
        Error::FellBack { .. } => -4,
        Error::KernelPathManager => -5,
        Error::NoSuchSubflow { .. } => -6,
        Error::LimitReached { .. } => -7,
        Error::NotLocal { .. } => -8,
        Error::NoRoute { .. } => -9,
        Error::FamiliesDiffer { .. } => -10,
        Error::NoInterface { .. } => -11,
        Error::Refused { .. } => -12,
        Error::TimedOut { .. } => -13,
        Error::Interrupted => -14,
        Error::NoSuchAddress { .. } => -15,
        Error::NoIdLeft => -16,
        Error::NotPrivileged => -17,
        Error::NoBroker { .. } => -18,
        Error::Forbidden { .. } => -19,
        Error::TooMany { .. } => -20,
        Error::ForeignNamespace => -21,
        Error::OptionRefused { .. } => -22,
        Error::NeedsBpf { .. } => -23,
        Error::NoMptcp => -24,
        Error::Protocol { .. } => -25,
        Error::Kernel { .. } => -26,
        Error::Closing => -29,
        Error::AlreadyKnown { .. } => -30,
    }
}

fn row(code: c_int) -> Option<&'static (&'static CStr, &'static CStr)> {
    let place = code.checked_neg()?.checked_sub(1)?;
    CODES.get(usize::try_from(place).ok()?)
}

#[unsafe(no_mangle)]
extern "C" fn mptcplab_subflow_strerror(code: c_int) -> *const c_char {
    row(code).map_or(c"no error", |row| row.1).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn mptcplab_subflow_error_name(code: c_int) -> *const c_char {
    row(code).map_or(c"none", |row| row.0).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn mptcplab_subflow_last_message() -> *const c_char {
    // It stays where it is until the thread's next failure, or its end.
    let place = LAST.try_with(|last| last.borrow().as_ptr());
    place.unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../include/mptcplab_subflow.h");

    #[test]
    fn the_header_has_the_codes_in_their_order() {
        for (place, (name, _)) in CODES.iter().enumerate() {
            let name = name.to_str().unwrap().to_uppercase();
            let line = format!("MPTCPLAB_SUBFLOW_{name} = -{}", place + 1);
            let found = HEADER
                .lines()
                .any(|each| each.trim().trim_end_matches(',') == line);
            assert!(found, "{line}");
        }
        assert_eq!(HEADER.matches(" = -").count(), CODES.len());
        assert_eq!(CODES[-INVALID as usize - 1].0, c"invalid");
        assert_eq!(CODES[-FAULT as usize - 1].0, c"fault");
    }

    #[test]
    fn an_error_has_the_name_that_it_has_elsewhere() {
        let errors = [
            Error::NotMptcp,
            Error::NoSuchSubflow { id: 1 },
            Error::Interrupted,
            Error::Forbidden {
                reason: String::new(),
            },
            Error::NoMptcp,
            Error::Closing,
            Error::kernel("", &std::io::Error::other("")),
        ];
        for error in errors {
            let kind = serde_json::to_value(&error).unwrap()["kind"].clone();
            let name = row(code(&error)).unwrap().0.to_str().unwrap();
            assert_eq!(kind, name);
        }
    }

    #[test]
    fn no_number_is_beyond_the_codes() {
        for code in [0, 1, -31, c_int::MIN, c_int::MAX] {
            assert!(row(code).is_none());
        }
    }

    #[test]
    fn a_panic_is_a_fault_and_a_message_is_kept_by_thread() {
        assert_eq!(call(|| panic!("on purpose")), FAULT);
        let invalid = call(|| Err(Invalid("one\0two".to_owned()).into()));
        assert_eq!(invalid, INVALID);
        let last = || {
            // SAFETY: a text of this thread that nobody has changed since.
            unsafe { CStr::from_ptr(mptcplab_subflow_last_message()) }.to_owned()
        };
        assert_eq!(last().as_c_str(), c"one two");
        assert_eq!(std::thread::spawn(last).join().unwrap().as_c_str(), c"");
    }
}

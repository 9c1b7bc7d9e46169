//! Errors as codes and messages.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mptcplab_subflow::Error;

/// An argument that is not one; the text says which and why.
pub(crate) struct Invalid(pub(crate) String);

/// Reason for which a call fails.
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

/// A code, its name, and what it means.
type Row = (c_int, &'static CStr, &'static CStr);

macro_rules! codes {
    ($($error:pat => $code:literal $name:literal $meaning:literal)*) => {
        const CODES: &[Row] = &[
            $(($code, $name, $meaning),)*
            // Those that are no errors of the crate.
            (INVALID, c"invalid", c"invalid argument"),
            (FAULT, c"fault", c"a fault of the library"),
        ];

        /// The code of an error.
        fn code(error: &Error) -> c_int {
            match error {
                $($error => $code,)*
            }
        }
    };
}

codes! {
    Error::NotMptcp => -1 c"not_mptcp" c"the socket is of another protocol"
    Error::NotConnected => -2 c"not_connected" c"the socket is not connected"
    Error::NotEstablished => -3 c"not_established" c"the peer has not confirmed the handshake yet"
    Error::FellBack { .. } => -4 c"fell_back" c"the connection has fallen back to TCP"
    Error::KernelPathManager => -5 c"kernel_path_manager" c"the connection was opened under the kernel's own path manager"
    Error::NoSuchSubflow { .. } => -6 c"no_such_subflow" c"the connection has no such subflow"
    Error::LimitReached { .. } => -7 c"limit_reached" c"the connection may not have more subflows"
    Error::NotLocal { .. } => -8 c"not_local" c"no address of this host, or its port is taken"
    Error::NoRoute { .. } => -9 c"no_route" c"no route from that address to the peer"
    Error::FamiliesDiffer { .. } => -10 c"families_differ" c"one address is of IPv4, the other of IPv6"
    Error::NoInterface { .. } => -11 c"no_interface" c"there is no such interface"
    Error::Refused { .. } => -12 c"refused" c"refused by the peer"
    Error::TimedOut { .. } => -13 c"timed_out" c"no answer from the peer"
    Error::Interrupted => -14 c"interrupted" c"interrupted"
    Error::NoSuchAddress { .. } => -15 c"no_such_address" c"the connection has announced no address with this id"
    Error::NoIdLeft => -16 c"no_id_left" c"all ids of addresses of the connection are taken"
    Error::NotPrivileged => -17 c"not_privileged" c"needs CAP_NET_ADMIN, or a broker"
    Error::NoBroker { .. } => -18 c"no_broker" c"the broker cannot be reached"
    Error::Forbidden { .. } => -19 c"forbidden" c"the broker's policy forbids it"
    Error::TooMany { .. } => -20 c"too_many" c"too many at once"
    Error::ForeignNamespace => -21 c"foreign_namespace" c"the socket is of another network namespace"
    Error::OptionRefused { .. } => -22 c"option_refused" c"the option cannot be used on a subflow"
    Error::NeedsBpf { .. } => -23 c"needs_bpf" c"an option on one subflow needs BPF"
    Error::NoMptcp => -24 c"no_mptcp" c"this kernel has no MPTCP"
    Error::Protocol { .. } => -25 c"protocol" c"program and broker do not understand each other"
    Error::Kernel { .. } => -26 c"kernel" c"the kernel refused"
    Error::Closing => -29 c"closing" c"the connection is being closed"
    Error::AlreadyKnown { .. } => -30 c"already_known" c"the peer knows the address as that of the first subflow"
}

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

fn row(code: c_int) -> Option<&'static Row> {
    CODES.iter().find(|row| row.0 == code)
}

#[unsafe(no_mangle)]
extern "C" fn mptcplab_subflow_strerror(code: c_int) -> *const c_char {
    row(code).map_or(c"no error", |row| row.2).as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn mptcplab_subflow_error_name(code: c_int) -> *const c_char {
    row(code).map_or(c"none", |row| row.1).as_ptr()
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
    fn the_header_has_the_codes() {
        for (code, name, _) in CODES {
            let name = name.to_str().unwrap().to_uppercase();
            let line = format!("MPTCPLAB_SUBFLOW_{name} = {code}");
            let found = HEADER
                .lines()
                .any(|each| each.trim().trim_end_matches(',') == line);
            assert!(found, "{line}");
        }
        assert_eq!(HEADER.matches(" = -").count(), CODES.len());
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
            let name = row(code(&error)).unwrap().1.to_str().unwrap();
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
            // SAFETY: a text of this thread, unchanged since.
            unsafe { CStr::from_ptr(mptcplab_subflow_last_message()) }.to_owned()
        };
        assert_eq!(last().as_c_str(), c"one two");
        assert_eq!(std::thread::spawn(last).join().unwrap().as_c_str(), c"");
    }
}

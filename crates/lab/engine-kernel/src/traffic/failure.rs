//! Errors of the kernel as failures of connections.

use std::io;

use mptcplab_linux::describe;
use mptcplab_traffic::Failure;

/// For `map_err`: the failure of an operation.
pub(super) fn failed_to(operation: impl Into<String>) -> impl FnOnce(io::Error) -> Failure {
    let operation = operation.into();
    move |error| Failure::Io(operation, describe(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_kernel_reads_as_a_sentence() {
        let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
        let failure = failed_to("connect to 10.0.9.2:5001")(error);
        assert_eq!(
            failure.to_string(),
            "connect to 10.0.9.2:5001: connection timed out"
        );
    }
}

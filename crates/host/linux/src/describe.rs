//! Errors of the kernel in words for people.

use std::io;

use nix::errno::Errno;

/// The kernel's words without the number that Rust adds.
pub fn describe(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(
        || error.to_string(),
        |number| Errno::from_raw(number).desc().to_lowercase(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_kernel_is_a_phrase() {
        let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
        assert_eq!(describe(&error), "connection timed out");
        assert_eq!(describe(&io::Error::other("no such row")), "no such row");
    }
}

//! Users and groups by their names: as the C library finds them, or, in a static program, which has
//! none of its modules, in `/etc/passwd` and `/etc/group`.

#[cfg(not(target_feature = "crt-static"))]
mod c_library;
#[cfg(any(test, target_feature = "crt-static"))]
mod files;

#[cfg(not(target_feature = "crt-static"))]
pub(crate) use c_library::{group, user, user_of_number};
#[cfg(target_feature = "crt-static")]
pub(crate) use files::{group, user, user_of_number};

//! As the C library finds them: files, directories of a network, whatever nsswitch.conf(5) names.

use std::io;

use mptcplab_broker::config::Identity;
use nix::errno::Errno;
use nix::unistd::{Group, Uid, User};

/// A user of this name, with its group.
pub(crate) fn user(name: &str) -> io::Result<Option<Identity>> {
    Ok(found(User::from_name(name))?.map(identity))
}

/// The user with this number.
pub(crate) fn user_of_number(uid: u32) -> io::Result<Option<Identity>> {
    Ok(found(User::from_uid(Uid::from_raw(uid)))?.map(identity))
}

/// Number of a group.
pub(crate) fn group(name: &str) -> io::Result<Option<u32>> {
    Ok(found(Group::from_name(name))?.map(|group| group.gid.as_raw()))
}

/// Numbers that getpwnam(3) gives where a name is not found, without a file of users, say, are no
/// errors.
fn found<T>(answer: nix::Result<Option<T>>) -> nix::Result<Option<T>> {
    match answer {
        Err(Errno::ENOENT | Errno::ESRCH) => Ok(None),
        answer => answer,
    }
}

fn identity(user: User) -> Identity {
    Identity {
        uid: user.uid.as_raw(),
        gid: user.gid.as_raw(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_knows_root() {
        let root = Some(Identity { uid: 0, gid: 0 });
        assert_eq!(user("root").unwrap(), root);
        assert_eq!(user_of_number(0).unwrap(), root);
        assert_eq!(group("root").unwrap(), Some(0));
        assert_eq!(user("nobody-of-this-name").unwrap(), None);
        assert_eq!(group("nobody-of-this-name").unwrap(), None);
    }

    #[test]
    fn a_host_without_a_file_of_users_has_none() {
        assert_eq!(found::<()>(Err(Errno::ENOENT)), Ok(None));
        assert_eq!(found(Ok(Some(1))), Ok(Some(1)));
        assert_eq!(found::<()>(Err(Errno::EIO)), Err(Errno::EIO));
    }
}

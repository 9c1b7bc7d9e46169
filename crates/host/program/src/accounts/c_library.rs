//! As the C library finds them: files, directories of a network, whatever nsswitch.conf(5) names.

use std::io;

use mptcplab_broker::config::Identity;
use nix::unistd::{Group, Uid, User};

/// A user of this name, with its group.
pub(crate) fn user(name: &str) -> io::Result<Option<Identity>> {
    Ok(User::from_name(name)?.map(identity))
}

/// The user with this number.
pub(crate) fn user_of_number(uid: u32) -> io::Result<Option<Identity>> {
    Ok(User::from_uid(Uid::from_raw(uid))?.map(identity))
}

/// Number of a group.
pub(crate) fn group(name: &str) -> io::Result<Option<u32>> {
    Ok(Group::from_name(name)?.map(|group| group.gid.as_raw()))
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
}

//! As passwd(5) and group(5) have them.

use std::fs;
use std::io;
use std::path::Path;

use mptcplab_broker::config::Identity;

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";

/// A user of this name, with its group.
pub(crate) fn user(name: &str) -> io::Result<Option<Identity>> {
    Ok(user_in(&content(PASSWD)?, |known, _| known == name))
}

/// The first user with this number.
pub(crate) fn user_of_number(uid: u32) -> io::Result<Option<Identity>> {
    Ok(user_in(&content(PASSWD)?, |_, known| known == uid))
}

/// Number of a group.
pub(crate) fn group(name: &str) -> io::Result<Option<u32>> {
    Ok(group_in(&content(GROUP)?, name))
}

/// The content of a file, in whatever encoding; none where there is no file.
fn content(path: impl AsRef<Path>) -> io::Result<String> {
    match fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// The first user of a file that is wanted, by name or number. Lines of another form are passed over.
fn user_in(passwd: &str, is_wanted: impl Fn(&str, u32) -> bool) -> Option<Identity> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _password) = (fields.next()?, fields.next()?);
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        is_wanted(name, uid).then_some(Identity { uid, gid })
    })
}

fn group_in(groups: &str, name: &str) -> Option<u32> {
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (known, _password) = (fields.next()?, fields.next()?);
        let gid = fields.next()?.parse().ok()?;
        (known == name).then_some(gid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "\
root:x:0:0:root:/root:/bin/bash
# a comment
broken:x:many:0::/:
short:x
+nis::::::
mptcplab-broker:x:997:995::/:/usr/sbin/nologin
second:x:997:100::/:
";

    #[test]
    fn users_are_found_by_name_and_number() {
        let named = |name: &str| user_in(USERS, |known, _| known == name);
        let broker = Some(Identity { uid: 997, gid: 995 });
        assert_eq!(named("root"), Some(Identity { uid: 0, gid: 0 }));
        assert_eq!(named("mptcplab-broker"), broker);
        assert_eq!(user_in(USERS, |_, uid| uid == 997), broker);
        for name in ["broken", "short", "+nis", "", "nobody", "root:x"] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn groups_are_found_by_name() {
        let groups = "root:x:0:\nstaff:x:50:one,two\nbroken\nstaffless:x::\n";
        assert_eq!(group_in(groups, "staff"), Some(50));
        assert_eq!(group_in(groups, "staffless"), None);
        assert_eq!(group_in(groups, "one"), None);
    }

    #[test]
    fn this_host_has_root_and_a_file_that_is_missing_names_nobody() {
        assert_eq!(user("root").unwrap(), Some(Identity { uid: 0, gid: 0 }));
        assert_eq!(user_of_number(0).unwrap(), user("root").unwrap());
        assert_eq!(group("root").unwrap(), Some(0));
        assert_eq!(content("/nowhere/passwd").unwrap(), "");
    }
}

//! The namespace's setting before the broker, in a file beside the socket, for the next broker after
//! one that was killed: the next one cannot tell whether `userspace` is the administrator's choice.
//!
//! The file counts in the boot and the network namespace in which it was written, and only while the
//! setting is the broker's. A broker that ends normally invalidates it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mptcplab_linux::userspace_pm::UserspacePm;
use rustix::fs::{AtFlags, CWD, unlinkat};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// The first word of the file.
const MARK: &str = "mptcplab-broker-setting-1";
/// Longer than any such file.
const FILE_BYTES: usize = 512;
/// Permissions of others to write.
const OTHERS_WRITE: u32 = 0o022;

/// The file, valid until this is dropped.
pub(crate) struct SavedSetting {
    file: File,
    path: PathBuf,
}

/// The boot and the namespace in which a file counts.
struct Scope {
    boot: String,
    /// The kernel gives no other namespace of this boot the same one.
    namespace: u64,
}

impl SavedSetting {
    /// Selects the userspace path manager and saves the setting there was, beside the socket at
    /// `socket`. Where it cannot be saved the reason comes with it.
    ///
    /// # Errors
    /// As [`UserspacePm::select`].
    pub(crate) fn select_userspace_pm(
        socket: &Path,
    ) -> io::Result<(UserspacePm, io::Result<Option<Self>>)> {
        let mut saved = Ok(None);
        let userspace_pm = UserspacePm::select_after(|found, ours| {
            let opened = Scope::current().and_then(|scope| Ok((Self::open(socket)?, scope)));
            let (file, scope) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    saved = Err(error);
                    return found.to_owned();
                }
            };
            let left = file.read().ok().and_then(|text| scope.parse(&text));
            let before = match left {
                Some(left) if found == ours => left,
                _ => found.to_owned(),
            };
            if before != ours {
                saved = file.write(&scope.text(&before)).map(|()| Some(file));
            }
            before
        })?;
        Ok((userspace_pm, saved))
    }

    fn open(socket: &Path) -> io::Result<Self> {
        let mut path = socket.as_os_str().to_owned();
        path.push(".setting");
        let path = PathBuf::from(path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // The file may be another user's, of any kind.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&path)?;
        let found = file.metadata()?;
        let own = rustix::process::geteuid().as_raw();
        let is_own = found.is_file()
            && found.uid() == own
            && found.mode() & OTHERS_WRITE == 0
            && found.nlink() == 1;
        if !is_own {
            let reason = format!("{} is not the broker's alone", path.display());
            return Err(io::Error::other(reason));
        }
        Ok(Self { file, path })
    }

    fn read(&self) -> io::Result<String> {
        let mut bytes = [0; FILE_BYTES];
        let length = self.file.read_at(&mut bytes, 0)?;
        String::from_utf8(bytes[..length].to_vec()).map_err(io::Error::other)
    }

    fn write(&self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.write_all_at(text.as_bytes(), 0)
    }
}

impl Drop for SavedSetting {
    fn drop(&mut self) {
        // A confined broker may not truncate it, nor always remove it.
        let _ = self.file.write_at(b"-", 0);
        let _ = unlinkat(CWD, &self.path, AtFlags::empty());
    }
}

impl Scope {
    fn current() -> io::Result<Self> {
        Ok(Self {
            boot: fs::read_to_string("/proc/sys/kernel/random/boot_id")?
                .trim()
                .to_owned(),
            namespace: namespace_cookie()?,
        })
    }

    fn text(&self, before: &str) -> String {
        format!("{MARK} {} {} {before}\n", self.boot, self.namespace)
    }

    /// Reads the setting from a file's text; `None` where it is of another scope, or damaged.
    fn parse(&self, text: &str) -> Option<String> {
        let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
        let [MARK, boot, namespace, before] = words[..] else {
            return None;
        };
        let is_here = boot == self.boot && namespace == self.namespace.to_string();
        let is_value = !before.is_empty()
            && before
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (is_here && is_value).then(|| before.to_owned())
    }
}

/// Cookie of the calling thread's network namespace (`SO_NETNS_COOKIE`, Linux 5.14).
fn namespace_cookie() -> io::Result<u64> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
    let mut cookie = 0_u64;
    let mut bytes = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most the given bytes, which are those of the number.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut bytes,
        )
    };
    match result {
        0 => Ok(cookie),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_setting_counts_where_and_when_it_was_written() {
        let scope = |boot: &str, namespace| Scope {
            boot: boot.to_owned(),
            namespace,
        };
        let text = scope("b0", 7).text("kernel");
        assert_eq!(scope("b0", 7).parse(&text), Some("kernel".to_owned()));
        assert_eq!(scope("b1", 7).parse(&text), None);
        assert_eq!(scope("b0", 8).parse(&text), None);
        let of_value = |value: &str| scope("b0", 7).parse(&scope("b0", 7).text(value));
        assert_eq!(of_value(""), None);
        assert_eq!(of_value("kernel kernel"), None);
        assert_eq!(of_value("../kernel"), None);
        // Cut, or invalidated.
        assert_eq!(scope("b0", 7).parse(&text[..text.len() - 1]), None);
        assert_eq!(scope("b0", 7).parse(&text.replacen('m', "-", 1)), None);
    }
}

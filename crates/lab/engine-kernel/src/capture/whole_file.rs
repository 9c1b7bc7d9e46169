//! A file that has its name only when it is complete, whatever kills its writer before.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::linkat;

/// A file under way.
pub(super) struct WholeFile {
    path: PathBuf,
    /// The name of its own that it has until then, where the file system has no unnamed files.
    part: Option<PathBuf>,
}

impl WholeFile {
    /// Makes an unnamed file for `path`, and gives where to write to.
    ///
    /// # Errors
    /// The file system's.
    pub(super) fn create(path: &Path) -> io::Result<(Self, File)> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let unnamed = OpenOptions::new()
            .write(true)
            .mode(0o644)
            .custom_flags(libc::O_TMPFILE)
            .open(folder);
        let (part, file) = match unnamed {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR)) => {
                let part = path.with_extension("part");
                (Some(part.clone()), File::create_new(part)?)
            }
            unnamed => (None, unnamed?),
        };
        let path = path.to_owned();
        Ok((Self { path, part }, file))
    }

    /// Gives the complete `file` its name.
    ///
    /// # Errors
    /// The file system's, such as that a file of the name exists.
    pub(super) fn publish(self, file: &File) -> io::Result<()> {
        match self.part {
            Some(part) => fs::rename(part, self.path),
            None => {
                let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
                let follow = AtFlags::AT_SYMLINK_FOLLOW;
                Ok(linkat(
                    AT_FDCWD,
                    unnamed.as_str(),
                    AT_FDCWD,
                    &self.path,
                    follow,
                )?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_has_no_name_before_it_is_complete() {
        let folder = std::env::temp_dir().join(format!("whole-file-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("one.pcapng");
        let (whole, mut file) = WholeFile::create(&path).unwrap();
        file.write_all(b"content").unwrap();
        assert!(!path.exists());
        whole.publish(&file).unwrap();
        let content = fs::read(&path).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(content, b"content");
    }
}

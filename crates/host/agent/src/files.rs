//! Files that are there as a whole or not at all, and their owner's alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The ending of a file that is being written.
pub(crate) const TEMPORARY: &str = "new";

/// Writes a file: after an end without notice, at any moment, it is the former one or this one.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let temporary = path.with_extension(TEMPORARY);
    let written = write_temporary(&temporary, bytes);
    let renamed = written.and_then(|file| fs::rename(&temporary, path).map(|()| file));
    match renamed {
        Ok(file) => sync_folder_of(path).map(|()| file),
        Err(error) => {
            // On a full disk it would take room.
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
}

fn write_temporary(temporary: &Path, bytes: &[u8]) -> io::Result<File> {
    remove(temporary)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

/// Removes a file, which may be gone.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The content of a file of at most so many bytes; none where there is no such file.
pub(crate) fn read(path: &Path, limit_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit_bytes {
        true => Err(io::Error::new(ErrorKind::InvalidData, "it is too large")),
        false => Ok(Some(bytes)),
    }
}

/// Makes a folder where there is none.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Waits until the names in a file's folder are on the disk.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_its_owners_alone_and_what_an_end_left_behind_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let temporary = folder.path().join("a.new");
        fs::write(&temporary, "half").unwrap();
        write(&path, b"first").unwrap();
        write(&path, b"second").unwrap();
        assert!(!temporary.exists());
        assert_eq!(read(&path, 6).unwrap().unwrap(), b"second");
        assert!(read(&path, 5).is_err());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read(&folder.path().join("none"), 1).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_written_leaves_the_former_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, b"first").unwrap();
        // A folder is in the way of the temporary file.
        fs::create_dir(folder.path().join("a.new")).unwrap();
        assert!(write(&path, b"second").is_err());
        assert_eq!(read(&path, 10).unwrap().unwrap(), b"first");
    }
}

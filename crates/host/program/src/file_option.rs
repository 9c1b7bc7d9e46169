//! Files that options name: opened without waiting, and of bounded size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::builder::{OsStringValueParser, TypedValueParser};
use nix::errno::Errno;

/// The parser of an option's path, in whatever encoding; it refuses an empty one, which is what a
/// shell makes of a variable that is not set.
pub(crate) fn path_parser() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(|text| match text.is_empty() {
        true => Err("is empty: name a file"),
        false => Ok(PathBuf::from(text)),
    })
}

/// The content of a regular file of at most this size.
///
/// # Errors
/// One sentence that says why the file cannot be used, without its name and content.
pub(crate) fn read_bytes(path: &Path, limit_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let cannot = |error: io::Error| {
        let cause = error
            .raw_os_error()
            .map(|number| Errno::from_raw(number).desc());
        anyhow!(
            "cannot be read ({})",
            cause.unwrap_or("no file has such a name")
        )
    };
    let file = OpenOptions::new()
        .read(true)
        // A pipe has no end where no process writes to it.
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(cannot)?;
    if let Some(kind) = kind(&file).map_err(cannot)? {
        bail!("cannot be read (it is {kind}: write its content into a file)");
    }
    let mut bytes = Vec::new();
    file.take(limit_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if bytes.len() as u64 > limit_bytes {
        bail!("larger than {}", shown(limit_bytes));
    }
    Ok(bytes)
}

/// As [`read_bytes`], decoded.
///
/// # Errors
/// Also where the content is not text in UTF-8.
pub(crate) fn read_text(path: &Path, limit_bytes: u64) -> anyhow::Result<String> {
    String::from_utf8(read_bytes(path, limit_bytes)?).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        anyhow!("is not text in UTF-8 (byte {offset})")
    })
}

fn shown(limit_bytes: u64) -> String {
    match limit_bytes >> 20 {
        0 => format!("{} KiB", limit_bytes >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// The kind of a file that is not a regular one; a folder fails when it is read.
fn kind(file: &File) -> io::Result<Option<&'static str>> {
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("a device")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        None
    })
}

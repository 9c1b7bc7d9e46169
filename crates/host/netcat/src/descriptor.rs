//! Standard input and output, and the kinds of descriptors.

use std::io::{stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::isatty;

use crate::failure::Failure;

/// Pipes are asked to hold that much, bytes; the most that an ordinary user gets by default.
const PIPE_BYTES: i32 = 1 << 20;
/// Written at most to what may block: a pipe that is ready takes as much (`PIPE_BUF`).
pub(crate) const CAREFUL_BYTES: usize = 4096;

/// Kind of the file behind a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A pipe.
    Pipe,
    /// A file or a block device, which is always ready.
    File,
    /// A file that was opened to be appended to, into which the kernel splices nothing.
    Appended,
    /// A socket.
    Socket,
    /// A terminal: what is written to it may have to wait.
    Terminal,
    /// Another device.
    Other,
}

/// Gives the kind of a descriptor.
pub(crate) fn kind(descriptor: impl AsFd) -> Kind {
    let Ok(status) = fstat(&descriptor) else {
        return Kind::Other;
    };
    match SFlag::from_bits_truncate(status.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFIFO => Kind::Pipe,
        SFlag::S_IFSOCK => Kind::Socket,
        SFlag::S_IFREG | SFlag::S_IFBLK => match fcntl(&descriptor, FcntlArg::F_GETFL) {
            Ok(flags) if OFlag::from_bits_truncate(flags).contains(OFlag::O_APPEND) => {
                Kind::Appended
            }
            _ => Kind::File,
        },
        _ if isatty(&descriptor).unwrap_or(false) => Kind::Terminal,
        _ => Kind::Other,
    }
}

/// Enlarges a pipe, as far as the system allows, which saves turns of the loop.
pub(crate) fn widen(pipe: BorrowedFd<'_>) {
    let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE_BYTES));
}

/// Standard input and output, for as long as the command runs.
pub(crate) struct Standard {
    pub(crate) input: OwnedFd,
    pub(crate) input_kind: Kind,
    pub(crate) output: OwnedFd,
    pub(crate) output_kind: Kind,
}

impl Standard {
    /// Duplicates both.
    ///
    /// # Errors
    /// When one of them is closed.
    pub(crate) fn open() -> Result<Self, Failure> {
        let closed = |name: &str| Failure::of(format!("{name} is closed; /dev/null does"));
        let input = stdin().as_fd().try_clone_to_owned();
        let input = input.map_err(closed("standard input"))?;
        let output = stdout().as_fd().try_clone_to_owned();
        let output = output.map_err(closed("standard output"))?;
        Ok(Self {
            input_kind: kind(&input),
            output_kind: kind(&output),
            input,
            output,
        })
    }

    /// Closes standard output, where some file systems tell at last that they could not write.
    ///
    /// # Errors
    /// Those of close(2).
    pub(crate) fn close(self) -> Result<(), Failure> {
        nix::unistd::close(self.output).map_err(|error| Failure::Output(error.into()))
    }
}

//! Options of single subflows, set and read by BPF.

use mptcplab_bpf::SubflowOptions;

use crate::Error;
use crate::own::Connection;

/// Sets and reads options of single subflows, of any connection of the calling thread's network
/// namespace.
///
/// Made by a process with CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN and CAP_SYS_ADMIN outside of user
/// namespaces, as root is; using it needs none of them. To find a subflow the kernel takes the lock
/// of one TCP socket after the other, and waits where its owner keeps one locked.
pub struct Options(SubflowOptions);

impl Options {
    /// Loads the program, which goes with the result.
    ///
    /// # Errors
    /// [`Error::NeedsBpf`].
    pub fn load() -> Result<Self, Error> {
        SubflowOptions::load().map(Self).map_err(needs_bpf)
    }

    /// Reads so many bytes of an option. The caller holds the connection's socket: a token that is
    /// free again can become that of another connection.
    ///
    /// # Errors
    /// [`Error::NoSuchSubflow`], [`Error::OptionRefused`], [`Error::NeedsBpf`].
    pub fn get(
        &mut self,
        connection: &Connection,
        id: u32,
        level: i32,
        option: i32,
        length: usize,
    ) -> Result<Vec<u8>, Error> {
        let subflow = connection.subflow(id)?.id;
        let read = self.0.get(connection.token, subflow, level, option, length);
        read.map_err(|error| why(error, id, level, option))
    }

    /// Sets an option, as [`Self::get`] reads it.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn set(
        &mut self,
        connection: &Connection,
        id: u32,
        level: i32,
        option: i32,
        value: &[u8],
    ) -> Result<(), Error> {
        let subflow = connection.subflow(id)?.id;
        let set = self.0.set(connection.token, subflow, level, option, value);
        set.map_err(|error| why(error, id, level, option))
    }
}

fn why(error: mptcplab_bpf::Error, id: u32, level: i32, option: i32) -> Error {
    let refused = |reason: String| Error::OptionRefused {
        level,
        option,
        reason,
    };
    match error {
        mptcplab_bpf::Error::NoSuchSubflow { .. } => Error::NoSuchSubflow { id },
        mptcplab_bpf::Error::Option { error, .. } => refused(error.to_string()),
        mptcplab_bpf::Error::Length(_) => refused(error.to_string()),
        error => needs_bpf(error),
    }
}

fn needs_bpf(error: mptcplab_bpf::Error) -> Error {
    let reason = match error {
        mptcplab_bpf::Error::NotPermitted => {
            format!("{error}; for others a broker does it that was started so (`mptcplab broker`)")
        }
        error => error.to_string(),
    };
    Error::NeedsBpf { reason }
}

//! `broker`: opens, closes and steers subflows for programs without privilege.

mod policy;
mod socket_options;

use std::path::{Path, PathBuf, absolute};

use anyhow::{anyhow, bail};
use clap::Args;
use mptcplab_broker::config::Identity;
use mptcplab_broker::{Config, Limits};

use crate::file_option::path_parser;
use crate::{accounts, output};

const MOST_PERMISSIONS: u32 = 0o777;

/// The options of `broker`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Where it listens, unless systemd passes a socket.
    #[arg(long, value_name = "PATH", default_value = "/run/mptcplab/broker.sock", value_parser = path_parser())]
    socket: PathBuf,
    /// Users and their rights (YAML); your own user has all unless given.
    #[arg(long, value_name = "FILE", value_parser = path_parser())]
    policy: Option<PathBuf>,
    /// Permissions of the socket; the policy decides.
    #[arg(long, value_name = "MODE", default_value = "0666")]
    mode: String,
    /// Become this user; started as root.
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Leave net.mptcp.path_manager as it is.
    #[arg(long)]
    leave_setting: bool,
    /// Do not log what is done.
    #[arg(long)]
    quiet: bool,
    /// Also log what clients gave up by hanging up.
    #[arg(long)]
    debug: bool,
    /// Check the options and the policy, and end.
    #[arg(long)]
    check: bool,
}

/// Serves clients until SIGTERM or SIGINT, and then ends the process; only checks the options where
/// that is wanted.
///
/// # Errors
/// Mistakes in the options and the policy; why the broker cannot start.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let config = config(options)?;
    if options.check {
        return output::print("the policy is in order\n");
    }
    match mptcplab_broker::run(&config)? {}
}

fn config(options: &Options) -> anyhow::Result<Config> {
    let socket = socket(&options.socket)?;
    let mode = mode(&options.mode)?;
    let user = options.user.as_deref().map(user).transpose()?;
    let (policy, limits) = match &options.policy {
        Some(file) => policy::read(file)?,
        None => (policy::own(), Limits::default()),
    };
    Ok(Config {
        socket,
        mode,
        policy,
        limits,
        user,
        leave_setting: options.leave_setting,
        quiet: options.quiet,
        debug: options.debug,
    })
}

/// The socket's absolute path. The broker makes its folder, but not those above it.
fn socket(path: &Path) -> anyhow::Result<PathBuf> {
    let shown = path.display();
    if path.is_dir() {
        bail!("--socket {shown}: is a folder: name the socket in it, broker.sock, say");
    }
    let socket = absolute(path).map_err(|error| anyhow!("--socket {shown}: {error}"))?;
    let folder = socket.parent();
    let above = folder.and_then(Path::parent);
    if let (Some(folder), Some(above)) = (folder, above)
        && !folder.is_dir()
        && !above.is_dir()
    {
        let above = above.display();
        bail!("--socket {shown}: there is no folder {above}: make it first");
    }
    Ok(socket)
}

/// Permissions in octal digits: `0660`.
fn mode(text: &str) -> anyhow::Result<u32> {
    let is_octal = text.bytes().all(|byte| byte.is_ascii_digit());
    let mode = u32::from_str_radix(text, 8).ok();
    mode.filter(|&mode| is_octal && mode <= MOST_PERMISSIONS)
        .ok_or_else(|| anyhow!("--mode: '{text}' are no permissions; write 0660, say"))
}

/// A user by its name or number. A number without a name has the group of the same number.
fn user(name: &str) -> anyhow::Result<Identity> {
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let found = match is_number.then(|| name.parse().ok()) {
        None => accounts::user(name),
        Some(None | Some(u32::MAX)) => bail!(
            "--user: '{name}': numbers of users go from 0 to {}",
            u32::MAX - 1
        ),
        Some(Some(uid)) => {
            accounts::user_of_number(uid).map(|user| user.or(Some(Identity { uid, gid: uid })))
        }
    };
    found
        .map_err(|error| anyhow!("--user: '{name}': cannot be looked up ({error})"))?
        .ok_or_else(|| anyhow!("--user: '{name}': there is no user of this name"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_octal() {
        assert_eq!(mode("0660").unwrap(), 0o660);
        assert_eq!(mode("777").unwrap(), 0o777);
        for text in ["999", "1777", "rw", "", "+7", "-1", "0o660"] {
            let told = mode(text).unwrap_err().to_string();
            assert_eq!(
                told,
                format!("--mode: '{text}' are no permissions; write 0660, say")
            );
        }
    }

    #[test]
    fn a_user_has_a_name_or_a_number() {
        let root = Identity { uid: 0, gid: 0 };
        assert_eq!(user("root").unwrap(), root);
        assert_eq!(user("0").unwrap(), root);
        let unnamed = 4_000_000_000;
        let identity = Identity {
            uid: unnamed,
            gid: unnamed,
        };
        assert_eq!(user("4000000000").unwrap(), identity);
        for (name, told) in [
            ("nobody-of-this-name", "there is no user of this name"),
            ("", "there is no user of this name"),
            ("4294967295", "numbers of users go from 0 to 4294967294"),
            ("99999999999", "numbers of users go from 0 to 4294967294"),
        ] {
            let error = user(name).unwrap_err().to_string();
            assert_eq!(error, format!("--user: '{name}': {told}"));
        }
    }
}

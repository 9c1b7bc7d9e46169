//! Endpoints of the path manager while an experiment lasts. A process of its own has them: it takes
//! them away also where the agent is killed.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use mptcplab_measure::client::{HeldEndpoints, NewEndpoint, Path};

/// The first word of the answer of a process that has them.
const HELD: &str = "held";
/// The word before addresses of endpoints that are not used meanwhile.
const UNUSED: &str = "unused";
const MOST_ANSWER_BYTES: u64 = 4_096;

/// A process that has endpoints until this is dropped.
pub(crate) struct Holder {
    child: Child,
    /// Addresses of those that were not there before.
    pub(crate) added: Vec<String>,
    /// Addresses of others, from which no subflow is opened to the target.
    pub(crate) unused: Vec<String>,
}

impl Holder {
    /// Starts the process by this command, to which the place of the target's data and the endpoints
    /// are added.
    ///
    /// # Errors
    /// Where the kernel refuses: without CAP_NET_ADMIN, say.
    pub(crate) fn hold(
        command: &[OsString],
        paths: &[Path],
        target: SocketAddr,
    ) -> io::Result<Self> {
        let (program, arguments) = command.split_first().expect("a command has a program");
        let wanted = paths.iter().map(|path| {
            let interface = path.device.as_ref().map_or(0, |_| path.index);
            format!("{}%{interface}", path.source)
        });
        let child = Command::new(program)
            .args(arguments)
            .arg(target.to_string())
            .args(wanted)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C in a terminal is for the agent.
            .process_group(0)
            .spawn()?;
        let mut holder = Self {
            child,
            added: Vec::new(),
            unused: Vec::new(),
        };
        let answer = holder.answer()?;
        match answer.trim_end().strip_prefix(HELD) {
            Some(told) => {
                let mut words = told.split_whitespace().map(str::to_owned);
                holder.added = words.by_ref().take_while(|word| word != UNUSED).collect();
                holder.unused = words.collect();
                Ok(holder)
            }
            None => Err(io::Error::other(answer.trim_end().to_owned())),
        }
    }

    fn answer(&mut self) -> io::Result<String> {
        let output = self.child.stdout.take().expect("it is a pipe");
        let mut line = String::new();
        BufReader::new(output.take(MOST_ANSWER_BYTES)).read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // The end of its input is its end.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Holds endpoints until the end of standard input: the other end of an agent's pipe. Tells at
/// standard output which ones were added and which others are not used, or why none can be.
///
/// # Errors
/// The kernel's, which was told, too.
pub fn hold_until_end_of_input(target: SocketAddr, wanted: &[NewEndpoint]) -> io::Result<()> {
    let held = HeldEndpoints::hold(wanted, Some(target));
    let told = match &held {
        Ok(held) => {
            let added = held.added().iter().map(|address| format!(" {address}"));
            let added: String = added.collect();
            let unused: String = held.unused().map(|address| format!(" {address}")).collect();
            format!("{HELD}{added} {UNUSED}{unused}")
        }
        Err(error) => error.to_string().replace('\n', " "),
    };
    // The agent may have ended already.
    let _ = writeln!(io::stdout(), "{told}");
    let held = held?;
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    drop(held);
    Ok(())
}

/// The endpoint of `10.0.0.1%2`.
pub fn parse_endpoint(text: &str) -> Option<NewEndpoint> {
    let (address, interface) = text.rsplit_once('%')?;
    let address: IpAddr = address.parse().ok()?;
    Some(NewEndpoint {
        address,
        interface: interface.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> Path {
        Path {
            interface: "eth0".to_owned(),
            source: "2001:db8::1".parse().unwrap(),
            device: Some("eth0".to_owned()),
            index: 7,
        }
    }

    fn hold(script: &str) -> io::Result<Holder> {
        let command = ["sh", "-c", script, "sh"].map(OsString::from);
        Holder::hold(&command, &[path()], "[2001:db8::9]:4421".parse().unwrap())
    }

    #[test]
    fn a_holder_is_told_the_endpoints_and_ends_with_its_input() {
        let holder = hold("echo held $2 unused $1; cat").unwrap();
        let [added] = &holder.added[..] else {
            panic!("one endpoint")
        };
        assert_eq!(holder.unused, ["[2001:db8::9]:4421"]);
        let endpoint = parse_endpoint(added).unwrap();
        assert_eq!((endpoint.address, endpoint.interface), (path().source, 7));
        drop(holder);
        assert_eq!(parse_endpoint("10.0.0.1"), None);
        assert_eq!(parse_endpoint("x%1"), None);
    }

    #[test]
    fn the_kernels_reason_is_told() {
        let told = hold("echo no such permission").err().unwrap().to_string();
        assert_eq!(told, "no such permission");
        assert!(hold("exit 1").is_err());
    }
}

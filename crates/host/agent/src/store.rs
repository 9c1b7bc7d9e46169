//! All that an agent keeps in its folder: who it is, its account, its plans and its results.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use mptcplab_measure::token::hex;
use nix::fcntl::{Flock, FlockArg};
use ring::digest::{SHA256, digest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::caps::{Caps, Cause};
use crate::enrolment::{Enrolment, Server, new_secret};
use crate::files;
use crate::ledger::Ledger;
use crate::spool::{Entry, Spool};

const IDENTITY: &str = "agent.json";
const ENROLLING: &str = "enrolling.json";
const LEDGER: &str = "ledger.json";
const PLANS: &str = "plans.json";
const LOCK: &str = "lock";
/// Takes room that the account gets on a full disk.
const RESERVE: &str = "reserve";
const RESERVE_BYTES: usize = 64 << 10;
const MOST_BYTES: u64 = 16 << 20;
/// Time for an agent that ends to give its folder free: a process that another thread starts has all
/// that is open until it runs its program.
const TIME_TO_LOCK: Duration = Duration::from_secs(2);
const PAUSE_TO_LOCK: Duration = Duration::from_millis(20);

/// By what the server knows an agent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The server.
    pub server: Server,
    /// The agent's id there.
    pub agent: String,
    /// The agent's secret.
    pub secret: String,
}

/// The secret that an agent has made for itself, and the enrolment that it is for.
#[derive(Serialize, Deserialize)]
struct Enrolling {
    fingerprint: Option<String>,
    /// SHA-256 of the token's secret.
    token: String,
    secret: String,
}

/// Plans as the server gave them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeptPlans {
    /// The server's name of this state of them.
    pub etag: Option<String>,
    /// The plans.
    pub plans: Vec<Value>,
}

/// A folder that one agent has.
pub struct Store {
    folder: PathBuf,
    caps: Caps,
    /// The account; [`Self::save`] writes it.
    pub ledger: Ledger,
    /// The results.
    pub spool: Spool,
    is_unsaved: bool,
    _lock: Flock<File>,
}

impl Store {
    /// The store of a folder, which is made where it is none.
    ///
    /// # Errors
    /// A folder that cannot be used, that another agent has, and files that are none of this.
    pub fn open(folder: &Path, caps: Caps) -> Result<Self, Error> {
        files::make_folder(folder).map_err(Error::at(folder))?;
        close_to_others(folder)?;
        let lock = lock(folder)?;
        let mut ledger: Ledger = parsed(&folder.join(LEDGER))?.unwrap_or_default();
        let mut spool = Spool::open(folder).map_err(Error::at(folder))?;
        let dropping = std::mem::take(&mut ledger.dropping);
        spool.drop_files(&dropping).map_err(Error::at(folder))?;
        // A result may have been written, and its number not.
        ledger.next_sequence = ledger.next_sequence.max(spool.next_sequence());
        Ok(Self {
            folder: folder.to_owned(),
            caps,
            ledger,
            spool,
            is_unsaved: true,
            _lock: lock,
        })
    }

    /// The agent's identity; none before its enrolment.
    ///
    /// # Errors
    /// A file that cannot be read, or is none of this.
    pub fn identity(&self) -> Result<Option<Identity>, Error> {
        parsed(&self.folder.join(IDENTITY))
    }

    /// Keeps who it is.
    ///
    /// # Errors
    /// The system's.
    pub fn set_identity(&self, identity: &Identity) -> Result<(), Error> {
        self.keep(IDENTITY, identity)?;
        let path = self.folder.join(ENROLLING);
        files::remove(&path).map_err(Error::at(&path))
    }

    /// The secret that the agent enrols with: the same one at each try by a token, also after an end
    /// without notice, so that the server knows it again.
    ///
    /// # Errors
    /// The system's.
    pub fn own_secret(&self, enrolment: &Enrolment) -> Result<String, Error> {
        let fingerprint = &enrolment.server.fingerprint;
        let token = hex(digest(&SHA256, enrolment.secret.as_bytes()).as_ref());
        // A file that cannot be read is of no use.
        let kept: Option<Enrolling> = parsed(&self.folder.join(ENROLLING)).ok().flatten();
        let same = kept.filter(|kept| kept.fingerprint == *fingerprint && kept.token == token);
        if let Some(kept) = same {
            return Ok(kept.secret);
        }
        let made = Enrolling {
            fingerprint: fingerprint.clone(),
            token,
            secret: new_secret(),
        };
        self.keep(ENROLLING, &made)?;
        Ok(made.secret)
    }

    /// The plans that it had last; none of them where the file cannot be read.
    pub fn plans(&self) -> KeptPlans {
        let kept = parsed(&self.folder.join(PLANS));
        kept.ok().flatten().unwrap_or_default()
    }

    /// Keeps its plans.
    ///
    /// # Errors
    /// The system's.
    pub fn set_plans(&self, plans: &KeptPlans) -> Result<(), Error> {
        self.keep(PLANS, plans)
    }

    fn keep(&self, name: &str, value: &impl Serialize) -> Result<(), Error> {
        let path = self.folder.join(name);
        let bytes = serde_json::to_vec(value).expect("keys are strings");
        let written = files::write(&path, &bytes).map(|_| ());
        written.map_err(Error::at(&path))
    }

    /// Writes the account, also on a full disk, as long as nobody else takes the room kept for it.
    ///
    /// # Errors
    /// The system's; what was not written is written by the next call.
    pub fn save(&mut self) -> Result<(), Error> {
        self.is_unsaved = true;
        let reserve = self.folder.join(RESERVE);
        if let Err(error) = self.keep(LEDGER, &self.ledger) {
            files::remove(&reserve).map_err(|_| error)?;
            self.keep(LEDGER, &self.ledger)?;
        } else if !reserve.exists() {
            // It is for later, and perhaps there is no room for it now.
            let _ = files::write(&reserve, &[b'.'; RESERVE_BYTES]);
        }
        self.is_unsaved = false;
        Ok(())
    }

    /// Keeps a result, for which older ones may be dropped. `make` is given its number, and gives
    /// its id and its bytes.
    ///
    /// # Errors
    /// No room: it is counted as dropped.
    pub fn add(
        &mut self,
        utc_s: Option<i64>,
        make: impl FnOnce(u64) -> (String, Vec<u8>),
    ) -> Result<(), Error> {
        let sequence = self.ledger.next_sequence;
        let (id, bytes) = make(sequence);
        // Nothing is dropped for one that has no room in an empty spool.
        let (dropped, written) = match bytes.len() as u64 > self.caps.size_bytes {
            true => {
                let too_large = io::Error::other("it is larger than the spool may be");
                (Ok(()), Err(too_large))
            }
            false => {
                let dropped = self.drop_old(bytes.len() as u64, utc_s);
                (dropped, self.spool.write(sequence, &id, &bytes, utc_s))
            }
        };
        self.ledger.next_sequence = sequence + 1;
        if written.is_err() {
            self.ledger.dropped.size += 1;
        }
        let saved = self.save();
        written.map_err(Error::at(&self.folder))?;
        dropped.and(saved)
    }

    /// Drops what is beyond the caps, where a result of so many bytes comes. Each one counts once,
    /// whenever this ends without notice.
    ///
    /// # Errors
    /// The system's.
    pub fn drop_old(&mut self, coming_bytes: u64, utc_s: Option<i64>) -> Result<(), Error> {
        let places = self.caps.dropped(&self.spool.items(), coming_bytes, utc_s);
        if places.is_empty() {
            return Ok(());
        }
        let names = self.spool.names(places.iter().map(|(place, _)| *place));
        for (_, cause) in &places {
            match cause {
                Cause::Size => self.ledger.dropped.size += 1,
                Cause::Age => self.ledger.dropped.age += 1,
            }
        }
        self.ledger.dropping.clone_from(&names);
        // On a full disk there is room for it once they are gone.
        let saved = self.save();
        let dropped = self.spool.drop_files(&names);
        self.ledger.dropping.clear();
        dropped.map_err(Error::at(&self.folder))?;
        match saved {
            Ok(()) => Ok(()),
            Err(_) => self.save(),
        }
    }

    /// The server has a result.
    ///
    /// # Errors
    /// The system's. The latest result stays where the account cannot be written: its file is all
    /// that tells that its number is used.
    pub fn remove(&mut self, entry: &Entry) -> Result<(), Error> {
        let saved = match self.is_unsaved {
            true => self.save(),
            false => Ok(()),
        };
        if saved.is_ok() || entry.sequence + 1 < self.spool.next_sequence() {
            self.spool.remove(entry).map_err(Error::at(&self.folder))?;
        }
        saved
    }
}

/// Makes a folder its owner's alone, where it is an agent's or empty.
fn close_to_others(folder: &Path) -> Result<(), Error> {
    let metadata = folder.metadata().map_err(Error::at(folder))?;
    if metadata.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    let mut files = fs::read_dir(folder).map_err(Error::at(folder))?;
    if files.next().is_some() && !folder.join(LOCK).exists() {
        let place = folder.display();
        return Err(Error::Folder(format!(
            "{place}: has files of others, and others may read it: give the agent a folder of its \
             own, or chmod 700 {place}"
        )));
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(Error::at(folder))
}

fn lock(folder: &Path) -> Result<Flock<File>, Error> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(Error::at(&path))?;
    let until = Instant::now() + TIME_TO_LOCK;
    let mut lock = Flock::lock(file, FlockArg::LockExclusiveNonblock);
    while let Err((file, _)) = lock {
        if Instant::now() >= until {
            let place = folder.display();
            return Err(Error::Folder(format!(
                "{place}: another agent has this folder"
            )));
        }
        thread::sleep(PAUSE_TO_LOCK);
        lock = Flock::lock(file, FlockArg::LockExclusiveNonblock);
    }
    lock.map_err(|(_, error)| Error::at(&path)(error.into()))
}

fn parsed<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    let Some(bytes) = files::read(path, MOST_BYTES).map_err(Error::at(path))? else {
        return Ok(None);
    };
    let value = serde_json::from_slice(&bytes);
    value.map(Some).map_err(|_| {
        let place = path.display();
        Error::Folder(format!("{place}: is no file of an agent: remove it"))
    })
}

#[cfg(test)]
mod tests;

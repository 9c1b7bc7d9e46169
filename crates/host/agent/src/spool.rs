//! Results on the disk until the server has them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::caps::Item;
use crate::clock::EARLIEST_MS;
use crate::files;

/// Bytes of a result at most, for the server.
pub const MOST_RESULT_BYTES: usize = 4 << 20;
const DIGITS: usize = 12;
const ENDING: &str = "json";
const REASON_ENDING: &str = "reason";
const MOST_REASON_BYTES: u64 = 4_096;

/// A result in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Of the agent's results.
    pub sequence: u64,
    /// Its own.
    pub id: String,
    /// Of its file.
    pub bytes: u64,
    /// When it was written, in seconds since 1970, where that is known.
    pub written_s: Option<i64>,
    /// The server has refused it.
    pub is_quarantined: bool,
}

/// The folders of results, and what is in them, the oldest first.
#[derive(Debug)]
pub struct Spool {
    waiting: PathBuf,
    quarantine: PathBuf,
    entries: Vec<Entry>,
    held: Option<String>,
}

impl Entry {
    fn name(&self) -> String {
        format!("{:0DIGITS$}-{}.{ENDING}", self.sequence, self.id)
    }

    /// That of a file; none where the name is another one's.
    fn of(path: &Path, is_quarantined: bool) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (number, id) = name.strip_suffix(".json")?.split_once('-')?;
        let is_number = number.len() >= DIGITS && number.bytes().all(|one| one.is_ascii_digit());
        let metadata = path.metadata().ok()?;
        let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let written_s = i64::try_from(modified.as_secs()).ok()?;
        let entry = Self {
            sequence: number.parse().ok()?,
            id: id.to_owned(),
            bytes: metadata.len(),
            written_s: (written_s >= EARLIEST_MS / 1_000).then_some(written_s),
            is_quarantined,
        };
        (is_number && is_id(id) && metadata.is_file()).then_some(entry)
    }
}

/// It can be part of a path.
fn is_id(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == b'-')
}

impl Spool {
    /// The spool of a folder, which is made where it is none. What an end without notice has left
    /// half written is removed.
    ///
    /// # Errors
    /// The system's.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let mut spool = Self {
            waiting: folder.join("spool"),
            quarantine: folder.join("quarantine"),
            entries: Vec::new(),
            held: None,
        };
        for (folder, is_quarantined) in [(&spool.waiting, false), (&spool.quarantine, true)] {
            files::make_folder(folder)?;
            for file in fs::read_dir(folder)? {
                let path = file?.path();
                if path
                    .extension()
                    .is_some_and(|ending| ending == files::TEMPORARY)
                {
                    files::remove(&path)?;
                }
                spool.entries.extend(Entry::of(&path, is_quarantined));
            }
        }
        spool.entries.sort_by_key(|entry| entry.sequence);
        Ok(spool)
    }

    /// The number after that of the latest result.
    pub fn next_sequence(&self) -> u64 {
        self.entries.last().map_or(0, |entry| entry.sequence + 1)
    }

    /// Results that wait to be sent, the oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.is_quarantined)
    }

    /// Results that the server has refused, the oldest first.
    pub fn quarantined(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_quarantined)
    }

    /// All of them as the caps see them.
    pub fn items(&self) -> Vec<Item> {
        let item = |entry: &Entry| Item {
            bytes: entry.bytes,
            written_s: entry.written_s,
            is_held: self.held.as_ref() == Some(&entry.id),
        };
        self.entries.iter().map(item).collect()
    }

    /// Names of files by their places in [`Self::items`].
    pub fn names(&self, places: impl Iterator<Item = usize>) -> Vec<String> {
        places.map(|place| self.entries[place].name()).collect()
    }

    /// Writes a result. It is there after any end without notice, or nothing is.
    ///
    /// # Errors
    /// The system's: no room, say.
    pub fn write(
        &mut self,
        sequence: u64,
        id: &str,
        bytes: &[u8],
        utc_s: Option<i64>,
    ) -> io::Result<()> {
        let entry = Entry {
            sequence,
            id: id.to_owned(),
            bytes: bytes.len() as u64,
            written_s: utc_s,
            is_quarantined: false,
        };
        let path = self.waiting.join(entry.name());
        let file = files::write(&path, bytes).inspect_err(|_| {
            // It may be there already, and counts as dropped.
            let _ = files::remove(&path);
        })?;
        let since = Duration::from_secs(u64::try_from(utc_s.unwrap_or(0)).unwrap_or(0));
        // The system's clock may show another time.
        let _ = file.set_modified(SystemTime::UNIX_EPOCH + since);
        self.entries.push(entry);
        Ok(())
    }

    /// The bytes of a result that is to be sent. It is not dropped before [`Self::release`].
    ///
    /// # Errors
    /// The system's.
    pub fn hold(&mut self, entry: &Entry) -> io::Result<Option<Vec<u8>>> {
        let path = self.path(entry);
        let bytes = files::read(&path, MOST_RESULT_BYTES as u64)?;
        match bytes {
            Some(_) => self.held = Some(entry.id.clone()),
            // It was removed by another hand.
            None => self.entries.retain(|one| one.id != entry.id),
        }
        Ok(bytes)
    }

    /// A result is being sent.
    pub fn is_holding(&self) -> bool {
        self.held.is_some()
    }

    /// No result is being sent any more.
    pub fn release(&mut self) {
        self.held = None;
    }

    /// Removes a result that the server has.
    ///
    /// # Errors
    /// The system's; it will be sent again, which changes nothing.
    pub fn remove(&mut self, entry: &Entry) -> io::Result<()> {
        let path = self.path(entry);
        files::remove(&path)?;
        self.entries.retain(|one| one.id != entry.id);
        files::sync_folder_of(&path)
    }

    /// Lays a result aside that the server has refused.
    ///
    /// # Errors
    /// The system's.
    pub fn lay_aside(&mut self, entry: &Entry, reason: &str) -> io::Result<()> {
        let path = self.quarantine.join(entry.name());
        // Without its reason it is of less use, and not lost.
        let _ = files::write(&path.with_extension(REASON_ENDING), reason.as_bytes());
        let from = self.path(entry);
        fs::rename(&from, &path)?;
        for one in &mut self.entries {
            one.is_quarantined |= one.id == entry.id;
        }
        files::sync_folder_of(&path)?;
        files::sync_folder_of(&from)
    }

    /// The reason for which a result was laid aside.
    pub fn reason(&self, entry: &Entry) -> Option<String> {
        let path = self.quarantine.join(entry.name());
        let bytes = files::read(&path.with_extension(REASON_ENDING), MOST_REASON_BYTES);
        String::from_utf8(bytes.ok()??).ok()
    }

    /// Removes files of these names, which may be gone, from both folders.
    ///
    /// # Errors
    /// The system's.
    pub fn drop_files(&mut self, names: &[String]) -> io::Result<()> {
        for name in names {
            for folder in [&self.waiting, &self.quarantine] {
                let path = folder.join(name);
                files::remove(&path)?;
                files::remove(&path.with_extension(REASON_ENDING))?;
            }
        }
        self.entries.retain(|entry| !names.contains(&entry.name()));
        Ok(())
    }

    fn path(&self, entry: &Entry) -> PathBuf {
        let folder = match entry.is_quarantined {
            true => &self.quarantine,
            false => &self.waiting,
        };
        folder.join(entry.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(spool: &Spool) -> Vec<(u64, &str)> {
        let every = spool.waiting();
        every.map(|entry| (entry.sequence, &entry.id[..])).collect()
    }

    #[test]
    fn a_result_is_there_after_an_end_without_notice() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path()).unwrap();
        spool.write(3, "c", b"{}", Some(1_800_000_000)).unwrap();
        spool.write(11, "b", b"[]", None).unwrap();
        // One that was being written.
        let half = folder.path().join("spool/000000000012-d.new");
        fs::write(&half, "{").unwrap();
        fs::write(folder.path().join("spool/other.json"), "{").unwrap();
        let mut again = Spool::open(folder.path()).unwrap();
        assert_eq!(ids(&again), [(3, "c"), (11, "b")]);
        assert_eq!(again.next_sequence(), 12);
        assert!(!half.exists());
        let entries: Vec<_> = again.waiting().cloned().collect();
        assert_eq!(entries[0].written_s, Some(1_800_000_000));
        assert_eq!(entries[1].written_s, None);
        assert_eq!(again.hold(&entries[1]).unwrap().unwrap(), b"[]");
        assert_eq!(again.items().iter().filter(|item| item.is_held).count(), 1);
        again.remove(&entries[0]).unwrap();
        again.remove(&entries[0]).unwrap();
        assert_eq!(ids(&Spool::open(folder.path()).unwrap()), [(11, "b")]);
    }

    #[test]
    fn what_is_refused_is_kept_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path()).unwrap();
        spool.write(0, "a", b"{}", None).unwrap();
        let entry = spool.waiting().next().unwrap().clone();
        spool.lay_aside(&entry, "it is no result").unwrap();
        for mut spool in [spool, Spool::open(folder.path()).unwrap()] {
            assert_eq!(spool.waiting().count(), 0);
            let aside: Vec<_> = spool.quarantined().cloned().collect();
            assert_eq!(aside.len(), 1);
            if let Some(reason) = spool.reason(&aside[0]) {
                assert_eq!(reason, "it is no result");
            }
            assert_eq!(spool.next_sequence(), 1);
            spool.drop_files(&spool.names(0..1)).unwrap();
            assert_eq!(spool.quarantined().count(), 0);
        }
        assert_eq!(
            fs::read_dir(folder.path().join("quarantine"))
                .unwrap()
                .count(),
            0
        );
    }

    #[test]
    fn a_file_that_somebody_removed_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::open(folder.path()).unwrap();
        spool.write(0, "a", b"{}", None).unwrap();
        let entry = spool.waiting().next().unwrap().clone();
        fs::remove_file(folder.path().join("spool/000000000000-a.json")).unwrap();
        assert_eq!(spool.hold(&entry).unwrap(), None);
        assert_eq!(spool.waiting().count(), 0);
    }
}

//! Which subflows `nc` opens, by its options and its configuration.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use mptcplab_netcat::{Path as SubflowPath, SubflowOptions as Request};

use super::config::{self, CELLULAR, Names, WIFI, is_interface};
use super::{Policy, SubflowOptions};

/// The subflows that are asked for.
pub(super) fn wanted(options: &SubflowOptions) -> anyhow::Result<Request> {
    let pivot = options.policy == Policy::Pivot;
    // Without any name pivot is that of the car: cellular stays as a backup, WiFi comes and goes.
    let both = pivot && !options.every && !options.names_any();
    let mut paths = Vec::new();
    let keys = [
        (options.wifi || both, WIFI, false),
        (options.cellular || both, CELLULAR, pivot),
    ];
    if keys.iter().any(|&(wanted, ..)| wanted) {
        let file = options.config.clone().map_or_else(default_config, Ok)?;
        let names = config::read(&file)?;
        for (_, key, backup) in keys.into_iter().filter(|&(wanted, ..)| wanted) {
            paths.push(SubflowPath {
                name: key.to_owned(),
                from: named(&names, key, &file)?,
                backup,
            });
        }
    }
    for (option, interfaces, backup) in [
        ("-I", &options.interfaces, false),
        ("--backup", &options.backups, true),
    ] {
        for name in interfaces {
            if !is_interface(name) {
                bail!("{option} {name}: an interface of this host, such as eth1");
            }
            paths.push(SubflowPath {
                name: name.clone(),
                from: name.clone(),
                backup,
            });
        }
    }
    for (number, path) in paths.iter().enumerate() {
        if paths[..number].iter().any(|other| other.from == path.from) {
            bail!("{}: asked for twice", path.from);
        }
    }
    Ok(Request {
        all: options.every,
        paths,
        follow: pivot,
    })
}

/// `~/.config/mptcplab/nc.yaml`, or where XDG_CONFIG_HOME says.
fn default_config() -> anyhow::Result<PathBuf> {
    let set = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
    let folder = match set {
        Some(folder) => PathBuf::from(folder),
        None => std::env::home_dir()
            .ok_or_else(|| anyhow!("there is no home folder: name a file with --config"))?
            .join(".config"),
    };
    Ok(folder.join("mptcplab").join("nc.yaml"))
}

fn named(names: &Names, key: &str, file: &Path) -> anyhow::Result<String> {
    names.get(key).cloned().ok_or_else(|| {
        let file = file.display();
        anyhow!("{file}: no `{key}`: write {key}: with an address of this host")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    fn path(name: &str, from: &str, backup: bool) -> SubflowPath {
        SubflowPath {
            name: name.to_owned(),
            from: from.to_owned(),
            backup,
        }
    }

    #[test]
    fn the_pivot_is_cellular_as_a_backup_unless_paths_are_named() {
        let file = file("wifi: wlan0\ncellular: rmnet0\n");
        let pivot = |interfaces: &[&str], backups: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            wanted(&SubflowOptions {
                policy: Policy::Pivot,
                config: Some(file.path().to_owned()),
                interfaces: owned(interfaces),
                backups: owned(backups),
                ..SubflowOptions::default()
            })
            .unwrap()
        };
        let car = [
            path("wifi", "wlan0", false),
            path("cellular", "rmnet0", true),
        ];
        let wanted = pivot(&[], &[]);
        assert_eq!((wanted.all, wanted.follow), (false, true));
        assert_eq!(wanted.paths, car);
        let named = [path("eth1", "eth1", false), path("eth2", "eth2", true)];
        assert_eq!(pivot(&["eth1"], &["eth2"]).paths, named);
    }

    #[test]
    fn what_the_file_lacks_is_named() {
        let file = file("wifi: a\n");
        let options = SubflowOptions {
            cellular: true,
            config: Some(file.path().to_owned()),
            ..SubflowOptions::default()
        };
        let error = wanted(&options).unwrap_err().to_string();
        assert!(
            error.contains("no `cellular`: write cellular: with an address"),
            "{error}"
        );
    }
}

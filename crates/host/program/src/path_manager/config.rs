//! From the options of `path-manager` to its configuration.

use mptcplab_path_manager::{Config, Paths, Step};

use anyhow::{anyhow, bail};

use super::{Options, PathsOption};
use crate::size::parse_size;

/// Of ndiffports, unless more are wanted.
const SUBFLOWS_PER_PAIR: u32 = 2;
/// Of a connection, as `--most` has it.
const MOST_SUBFLOWS: u32 = 255;

/// The configuration.
///
/// # Errors
/// Options that mean nothing here, and steps that do not rise.
pub(super) fn config(options: &Options) -> anyhow::Result<Config> {
    refuse_options_without_effect(options)?;
    Ok(Config {
        paths: match options.paths {
            PathsOption::None => Paths::None,
            PathsOption::Ndiffports => {
                Paths::Ndiffports(options.subflows.unwrap_or(SUBFLOWS_PER_PAIR))
            }
            PathsOption::Fullmesh => Paths::Fullmesh,
            PathsOption::Handover => Paths::Handover(options.prefer.clone()),
        },
        signal: options.signal,
        refresh: options.refresh,
        most_subflows: options.most,
        steps: steps(&options.after)?,
        backup: options.backup.clone(),
    })
}

fn refuse_options_without_effect(options: &Options) -> anyhow::Result<()> {
    use PathsOption::{Fullmesh, Handover, Ndiffports};
    let given: [(&str, bool, &[PathsOption]); 5] = [
        ("--subflows", options.subflows.is_some(), &[Ndiffports]),
        ("--prefer", !options.prefer.is_empty(), &[Handover]),
        ("--backup", !options.backup.is_empty(), &[Fullmesh]),
        (
            "--after",
            !options.after.is_empty(),
            &[Ndiffports, Fullmesh],
        ),
        (
            "--refresh",
            options.refresh,
            &[Ndiffports, Fullmesh, Handover],
        ),
    ];
    for (option, is_given, kinds) in given {
        if is_given && !kinds.contains(&options.paths) {
            let names: Vec<_> = kinds.iter().map(|&kind| name(kind)).collect();
            bail!(
                "{option} says nothing for {}: leave it out, or choose {}",
                name(options.paths),
                names.join(" or "),
            );
        }
    }
    if options.paths == PathsOption::None && !options.signal {
        bail!("none opens nothing: add --signal, or choose what it should open");
    }
    let subflows = options.subflows.unwrap_or(0);
    if subflows > options.most {
        let most = options.most;
        bail!("--subflows {subflows} is more than --most {most} allows: raise --most");
    }
    Ok(())
}

fn name(kind: PathsOption) -> &'static str {
    match kind {
        PathsOption::None => "none",
        PathsOption::Ndiffports => "ndiffports",
        PathsOption::Fullmesh => "fullmesh",
        PathsOption::Handover => "handover",
    }
}

fn steps(texts: &[String]) -> anyhow::Result<Vec<Step>> {
    let mut steps = Vec::new();
    for text in texts {
        steps.push((step(text)?, text));
    }
    steps.sort_by_key(|(step, _)| step.bytes);
    for pair in steps.windows(2) {
        let [(step, text), (next, next_text)] = pair else {
            unreachable!("windows of two")
        };
        if step.bytes == next.bytes || step.subflows >= next.subflows {
            bail!(
                "--after {text} --after {next_text}: steps must rise: more subflows after more \
                 bytes, such as 100kB=2 and 400kB=8"
            );
        }
    }
    Ok(steps.into_iter().map(|(step, _)| step).collect())
}

fn step(text: &str) -> anyhow::Result<Step> {
    let parts = text
        .split_once('=')
        .map(|(size, subflows)| (size.trim(), subflows.trim()));
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let Some((size, subflows)) = parts.filter(|(_, subflows)| is_number(subflows)) else {
        bail!("--after: '{text}': write SIZE=SUBFLOWS, such as 100kB=2");
    };
    let subflows = subflows
        .parse()
        .ok()
        .filter(|count| (1..=MOST_SUBFLOWS).contains(count));
    let Some(subflows) = subflows else {
        bail!("--after: '{text}': a connection has 1 to {MOST_SUBFLOWS} subflows");
    };
    let bytes = parse_size(size).map_err(|error| anyhow!("--after: {error}"))?;
    Ok(Step { bytes, subflows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_put_in_order() {
        let texts = ["400kB=8", "100 kB = 2"].map(str::to_owned);
        let step = |bytes, subflows| Step { bytes, subflows };
        assert_eq!(steps(&texts).unwrap(), [step(100_000, 2), step(400_000, 8)]);
    }
}

//! Mistakes in a file, in words for its author.

use anyhow::anyhow;

/// Two names are similar from here on; clap's own suggestions begin there, too.
const SIMILAR: f64 = 0.7;
/// The time of a comparison grows with the length; no known name is as long.
const MOST_COMPARED_CHARACTERS: usize = 60;

/// One mistake: its place and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Line of the file, from 1.
    pub(crate) line: usize,
    /// Dotted path of the key; empty for the file as a whole.
    pub(crate) key: String,
    /// The mistake, and the fix.
    pub(crate) text: String,
}

/// The mistakes of a file as one error: a line for each, in the order of the file.
pub(crate) fn refusal(origin: &str, mut problems: Vec<Problem>) -> anyhow::Error {
    problems.sort_by_key(|problem| problem.line);
    let lines: Vec<_> = problems
        .iter()
        .map(|Problem { line, key, text }| match key.as_str() {
            "" => format!("{origin}:{line}: {text}"),
            key => format!("{origin}:{line}: {key}: {text}"),
        })
        .collect();
    anyhow!(lines.join("\n"))
}

/// The end of a message about an unknown name: the known one that it resembles, or all of them.
pub(crate) fn did_you_mean(word: &str, known: &[&str]) -> String {
    let compared = word.chars().take(MOST_COMPARED_CHARACTERS);
    let word: String = compared.flat_map(char::to_lowercase).collect();
    let similar = |name: &str| strsim::jaro(&word, &name.to_lowercase());
    let nearest = known
        .iter()
        .max_by(|one, other| similar(one).total_cmp(&similar(other)));
    match nearest {
        Some(name) if similar(name) > SIMILAR => format!("did you mean \"{name}\"?"),
        _ => format!("known: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_is_recognised_and_another_is_not() {
        let known = ["users", "groups", "interfaces"];
        assert_eq!(
            did_you_mean("Interface", &known),
            "did you mean \"interfaces\"?"
        );
        assert_eq!(
            did_you_mean("x", &known),
            "known: users, groups, interfaces"
        );
    }

    #[test]
    fn mistakes_are_told_in_the_order_of_the_file() {
        let problem = |line, key: &str| Problem {
            line,
            key: key.to_owned(),
            text: "no".to_owned(),
        };
        let told = refusal("file", vec![problem(3, "a.b"), problem(1, "")]);
        assert_eq!(told.to_string(), "file:1: no\nfile:3: a.b: no");
    }
}

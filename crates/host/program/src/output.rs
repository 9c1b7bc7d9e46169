//! Standard output, which may end before the program does.

use std::io::{self, Write};

use anyhow::Context;
use serde::Serialize;

/// Writes a text at once.
///
/// # Errors
/// Those of standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.context("standard output")
}

/// Writes a message to standard error, which may be closed or full; control characters are escaped.
pub(crate) fn report(message: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(message));
}

/// Whether a character moves a terminal's cursor, changes its colours, or reorders the text around
/// it: controls but tab and line feed, the direction of writing (Unicode TR 9), line separators.
pub(crate) fn is_harmful(letter: char) -> bool {
    match letter {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        letter => letter.is_control(),
    }
}

/// Escapes harmful characters.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match (is_harmful(letter), u32::from(letter)) {
            (false, _) => shown.push(letter),
            (true, code @ ..0x100) => shown += &format!("\\x{code:02x}"),
            (true, code) => shown += &format!("\\u{code:04x}"),
        }
    }
    shown
}

/// Writes a value as one line of JSON.
///
/// # Errors
/// Those of standard output.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Whether the reader of standard output has gone, `head`, say: no mistake of the user's.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<io::Error>();
    cause.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\x1b[31m\nü"), "a\\x1b[31m\nü");
        assert_eq!(printable("\u{202e}x\u{9b}"), "\\u202ex\\x9b");
    }
}

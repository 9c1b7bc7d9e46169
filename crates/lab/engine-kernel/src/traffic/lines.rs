//! Lines out of a program's output, bounded in length and number.

/// Bytes kept of a line.
const LINE_LENGTH: usize = 4096;
/// Lines kept of an output.
const LINES: u32 = 10_000;

/// Cuts a stream of bytes into lines.
#[derive(Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    given: u32,
}

impl Lines {
    /// Gives every line that `bytes` completes to `each`.
    pub(super) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for &byte in bytes {
            if byte == b'\n' {
                self.give(&mut each);
            } else if self.line.len() <= LINE_LENGTH {
                self.line.push(byte);
            }
        }
    }

    /// Gives what follows the last line's end.
    pub(super) fn finish(mut self, mut each: impl FnMut(&str)) {
        if !self.line.is_empty() {
            self.give(&mut each);
        }
    }

    fn give(&mut self, each: &mut impl FnMut(&str)) {
        if self.given < LINES {
            let kept = &self.line[..self.line.len().min(LINE_LENGTH)];
            let mut text = String::from_utf8_lossy(kept).into_owned();
            if self.line.len() > LINE_LENGTH {
                text.push_str(" … (cut: the line is longer than 4 KiB)");
            }
            each(&text);
        } else if self.given == LINES {
            each("… (cut: there are more than 10,000 lines)");
        }
        self.given = self.given.saturating_add(1);
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(parts: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut given = Vec::new();
        for part in parts {
            lines.push(part, |line| given.push(line.to_owned()));
        }
        lines.finish(|line| given.push(line.to_owned()));
        given
    }

    #[test]
    fn lines_are_put_together_from_parts() {
        assert_eq!(
            lines(&[b"on", b"e\n\ntwo\nth", b"ree"]),
            ["one", "", "two", "three"]
        );
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let cut = lines(&[&[b'x'; 4096], b"\n", &[b'y'; 4097], b"\nz"]);
        assert_eq!(cut[0].len(), 4096);
        assert_eq!(
            cut[1],
            "y".repeat(4096) + " … (cut: the line is longer than 4 KiB)"
        );
        assert_eq!(cut[2], "z");
    }

    #[test]
    fn too_many_lines_are_cut_and_say_so_once() {
        let cut = lines(&["\n".repeat(10_005).as_bytes()]);
        assert_eq!(cut.len(), 10_001);
        assert_eq!(cut[10_000], "… (cut: there are more than 10,000 lines)");
    }
}

//! Text of HTML and SVG. Only what is written in this program goes out as it is.

use std::fmt::{self, Display, Write};

/// HTML under way.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Appends HTML as it is.
    pub(super) fn raw(&mut self, html: &'static str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    /// Appends text, for an element or for an attribute in quotes.
    pub(super) fn text(&mut self, text: impl Display) -> &mut Self {
        // Writing to a string does not fail.
        let _ = write!(Escaped(&mut self.0), "{text}");
        self
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

/// A string that escapes what is written to it.
struct Escaped<'a>(&'a mut String);

impl Write for Escaped<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                other if is_unseen(other) => self.0.push('\u{fffd}'),
                other => self.0.push(other),
            }
        }
        Ok(())
    }
}

/// Whether a character is not seen, or changes the order in which others are: text that has some
/// could be taken for another one.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        let mut html = Html::default();
        html.raw("<b>").text("<script>&\"'\u{202e}\n").raw("</b>");
        let shown = "<b>&lt;script&gt;&amp;&quot;&#39;\u{fffd}\u{fffd}</b>";
        assert_eq!(html.into_text(), shown);
    }
}

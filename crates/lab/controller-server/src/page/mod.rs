//! The page: documents as one file of HTML that needs nothing else, neither a script nor a picture.
//!
//! It is a function of the documents alone. All text passes [`Html`], which escapes it: names of
//! ports come from switches, and these may be hostile.

mod drawing;
mod html;
mod layout;
mod numbers;
mod tables;

use html::Html;

use crate::document::Documents;

/// The style sheet of the page.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Time after which the page that follows the controller is loaded again, s.
pub(crate) const REFRESH_S: u32 = 2;

/// The page. With a time (s) it is loaded again each time that is over.
pub(crate) fn render(documents: &Documents, refresh_s: Option<u32>) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    if let Some(refresh_s) = refresh_s {
        html.raw("<meta http-equiv=\"refresh\" content=\"")
            .text(refresh_s)
            .raw("\">\n");
    }
    html.raw("<title>Controller – mptcplab</title>\n<style>")
        .raw(STYLE)
        .raw("</style>\n</head>\n<body>\n<h1>Controller</h1>\n<p>Policy <code>")
        .text(&documents.topology.policy)
        .raw("</code>, ")
        .text(numbers::seconds(documents.topology.t_ns))
        .raw(" s after its begin.</p>\n<nav>")
        .raw(match refresh_s {
            Some(_) => "<a href=\"/\">Stop</a>",
            None => "<a href=\"/live\">Follow</a>",
        })
        .raw(" · <a href=\"/api/v1\">API</a></nav>\n");
    drawing::draw(&mut html, &documents.topology);
    tables::write(&mut html, documents);
    html.raw("</body>\n</html>\n");
    html.into_text()
}

#[cfg(test)]
mod tests;

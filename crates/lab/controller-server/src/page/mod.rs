//! The page: documents as one file of HTML that needs nothing else, neither a script nor a picture.
//! Where the server has charts, their script draws the last minutes on it, and follows the
//! controller without loading the page again.
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

/// Where the script of charts and their style are served.
pub(crate) const SCRIPT_PATH: &str = "/page.js";
pub(crate) const STYLE_PATH: &str = "/page.css";

/// The page. With a time (s) it follows the controller: by its script where it has charts and the
/// browser runs them, else by being loaded again each time that is over.
pub(crate) fn render(documents: &Documents, refresh_s: Option<u32>, has_charts: bool) -> String {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    if let Some(refresh_s) = refresh_s {
        html.raw(if has_charts { "<noscript>" } else { "" })
            .raw("<meta http-equiv=\"refresh\" content=\"")
            .text(refresh_s)
            .raw("\">")
            .raw(if has_charts { "</noscript>\n" } else { "\n" });
    }
    html.raw("<title>Controller – mptcplab</title>\n");
    if has_charts {
        // The page's own style comes after it, and so counts before it.
        html.raw("<link rel=\"stylesheet\" href=\"")
            .raw(STYLE_PATH)
            .raw("\">\n");
    }
    html.raw("<style>").raw(STYLE).raw("</style>\n");
    if has_charts {
        html.raw("<script src=\"")
            .raw(SCRIPT_PATH)
            .raw("\"></script>\n");
    }
    html.raw("</head>\n<body>\n")
        .raw(match (refresh_s, has_charts) {
            (Some(_), true) => "<main class=\"moving\">",
            _ => "<main>",
        })
        .raw("\n<h1>Controller</h1>\n<div data-part=\"state\"><p>Policy <code>")
        .text(&documents.topology.policy)
        .raw("</code>, ")
        .text(numbers::seconds(documents.topology.t_ns))
        .raw(" s after its begin.</p></div>\n<nav>")
        .raw(match refresh_s {
            Some(_) => "<a href=\"/\">Stop</a>",
            None => "<a href=\"/live\">Follow</a>",
        })
        .raw(" · <a href=\"/api/v1\">API</a></nav>\n");
    drawing::draw(&mut html, &documents.topology);
    if has_charts {
        html.raw(match refresh_s {
            Some(_) => "<section id=\"courses\" data-follows></section>\n",
            None => "<section id=\"courses\"></section>\n",
        });
    }
    tables::write(&mut html, documents);
    html.raw("</main>\n</body>\n</html>\n");
    html.into_text()
}

#[cfg(test)]
mod tests;

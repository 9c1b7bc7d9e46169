//! The documents by their paths.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use super::config::PageParts;
use super::exchange::Asker;
use super::request::Request;
use super::response::{Content, Status};
use crate::config::Size;
use crate::document::Documents;
use crate::page;

/// Time for which a copy of the controller's state is shown before it is asked for another one.
const FRESH: Duration = Duration::from_millis(500);

/// Paths of the documents.
const PATHS: [&str; 6] = [
    "/api/v1/topology",
    "/api/v1/history",
    "/api/v1/connections",
    "/api/v1/events",
    "/api/v1/rules",
    "/api/v1/rules/SWITCH",
];

/// The path by which sizes of transfers are told.
const SIZES: &str = "/api/v1/sizes";

/// Documents of one time, and those of them that were written.
struct Copy {
    taken: Instant,
    documents: Documents,
    written: BTreeMap<String, Content>,
}

/// Documents that are as new as they are to be.
pub(super) struct Routes {
    asker: Asker,
    /// The script and the style of charts, where the page has some.
    charts: Option<[Content; 2]>,
    copy: Option<Copy>,
}

impl Routes {
    pub(super) fn new(asker: Asker, charts: Option<&PageParts>) -> Self {
        let content = |media_type, text: &String| Content {
            media_type,
            bytes: text.as_bytes().into(),
        };
        let charts = charts.map(|parts| {
            [
                content("text/javascript; charset=utf-8", &parts.script),
                content("text/css; charset=utf-8", &parts.style),
            ]
        });
        let copy = None;
        Self {
            asker,
            charts,
            copy,
        }
    }

    pub(super) fn asker(&self) -> &Asker {
        &self.asker
    }

    /// Takes the size that a request tells, and gives it back.
    pub(super) fn tell(&mut self, request: &Request) -> Result<Content, Status> {
        if request.target != SIZES {
            return Err(Status::MethodNotAllowed);
        }
        let size: Size = serde_json::from_slice(&request.content).or(Err(Status::BadRequest))?;
        match self.asker.tell(size) {
            Some(true) => Ok(as_json(&size)),
            Some(false) => Err(Status::InsufficientStorage),
            None => Err(Status::Unavailable),
        }
    }

    /// The document that a request asks for.
    pub(super) fn content(&mut self, request: &Request) -> Result<Content, Status> {
        let target = request.target.as_str();
        if target == SIZES {
            return Err(Status::NotToBeRead);
        }
        if target == "/api/v1" {
            return Ok(as_json(&json!({ "documents": PATHS })));
        }
        if let Some([script, style]) = &self.charts {
            match target {
                page::SCRIPT_PATH => return Ok(script.clone()),
                page::STYLE_PATH => return Ok(style.clone()),
                _ => {}
            }
        }
        let copy = self.copy.take_if(|copy| copy.taken.elapsed() < FRESH);
        let copy = match copy {
            Some(copy) => copy,
            None => {
                let snapshot = self.asker.copy().ok_or(Status::Unavailable)?;
                Copy {
                    taken: Instant::now(),
                    documents: Documents::of(&snapshot),
                    written: BTreeMap::new(),
                }
            }
        };
        let copy = self.copy.insert(copy);
        if let Some(content) = copy.written.get(target) {
            return Ok(content.clone());
        }
        let content = write(&copy.documents, target, self.charts.is_some());
        let content = content.ok_or(Status::NotFound)?;
        copy.written.insert(target.to_owned(), content.clone());
        Ok(content)
    }
}

/// The document of a path. Paths are compared as a whole: they name no files.
fn write(documents: &Documents, path: &str, has_charts: bool) -> Option<Content> {
    match path {
        "/" => return Some(as_page(page::render(documents, None, has_charts))),
        "/live" => {
            let page = page::render(documents, Some(page::REFRESH_S), has_charts);
            return Some(as_page(page));
        }
        _ => {}
    }
    Some(match path.strip_prefix("/api/v1/")? {
        "topology" => as_json(&documents.topology),
        "history" => as_json(&documents.history()),
        "connections" => as_json(&documents.connections),
        "events" => as_json(&documents.events),
        "rules" => as_json(&documents.rules),
        rest => {
            let switch = rest.strip_prefix("rules/")?;
            let switches = &documents.topology.switches;
            let known = switches.iter().find(|known| known.switch == switch)?;
            as_json(&documents.rules.of_switch(&known.switch))
        }
    })
}

fn as_json(document: &impl Serialize) -> Content {
    Content {
        media_type: "application/json",
        // Documents are maps with names as keys, and no map of them fails to be written.
        bytes: serde_json::to_vec(document).unwrap_or_default().into(),
    }
}

fn as_page(html: String) -> Content {
    Content {
        media_type: "text/html; charset=utf-8",
        bytes: html.into_bytes().into(),
    }
}

//! The captures of interfaces.

use std::io;

use super::within;
use crate::capture;
use crate::plan::{InterfaceRef, Plan};

/// A capture that is open.
pub(super) struct Capture {
    pub(super) of: InterfaceRef,
    pub(super) subject: String,
    pub(super) tap: capture::Tap,
    pub(super) writer: capture::Writer,
}

pub(super) fn open_captures(plan: &Plan) -> io::Result<Vec<Capture>> {
    let Some(wanted) = &plan.capture else {
        return Ok(Vec::new());
    };
    let open = |&of: &InterfaceRef| {
        let subject = plan.subject(of);
        let path = wanted.file(&subject);
        let (tap, writer) = capture::start(&path, &subject, wanted.snap_length)
            .map_err(|error| within(&path.display().to_string(), error))?;
        Ok(Capture {
            of,
            subject,
            tap,
            writer,
        })
    };
    wanted.interfaces.iter().map(open).collect()
}

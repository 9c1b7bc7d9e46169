//! Captures of a run.

use mptcplab_plan::Plan;

use super::Core;
use crate::capture::{Capture, Seen};
use crate::error::SimError;
use crate::parcel::Parcel;

impl Core {
    /// Begins the captures that the plan wants.
    pub(super) fn open_captures(&mut self, plan: &Plan) -> Result<(), SimError> {
        let Some(wanted) = &plan.capture else {
            return Ok(());
        };
        for of in &wanted.interfaces {
            let interface = &self.nodes[of.node].interfaces[of.interface];
            let Some(line) = interface.line else {
                continue;
            };
            let name = format!("{}.pcapng", interface.subject.replace('.', "-"));
            let path = wanted.folder.join(name);
            let capture = Capture::create(path, &interface.subject, line, wanted.snap_length)
                .map_err(|error| SimError::Capture {
                    interface: interface.subject.clone(),
                    error,
                })?;
            self.captures.insert((of.node, of.interface), capture);
        }
        Ok(())
    }

    /// Completes the files of the captures.
    pub(crate) fn finish_captures(&mut self) -> Result<(), SimError> {
        let failed = |interface: &str| {
            let interface = interface.to_owned();
            move |error| SimError::Capture { interface, error }
        };
        if let Some(error) = self.capture_error.take() {
            return Err(failed("an interface")(error));
        }
        for (of, capture) in std::mem::take(&mut self.captures) {
            let subject = &self.nodes[of.0].interfaces[of.1].subject;
            capture.finish().map_err(failed(subject))?;
        }
        Ok(())
    }

    /// Writes a packet to the capture of an interface, if it has one.
    #[inline]
    pub(super) fn capture(&mut self, of: (usize, usize), seen: Seen, parcel: &mut Parcel) {
        if self.captures.is_empty() {
            return;
        }
        if let Some(capture) = self.captures.get_mut(&of)
            && let Err(error) = capture.write(self.now, seen, parcel.packet())
        {
            self.capture_error.get_or_insert(error);
        }
    }
}

//! The captures of a run.

use std::collections::BTreeMap;

use mptcplab_plan::Plan;
use mptcplab_record::PacketDirection;

use super::Network;
use super::observed::Seen;
use crate::capture::Capture;
use crate::error::SimError;
use crate::in_flight::InFlight;

/// The captures of a run, by node and interface.
#[derive(Debug, Default)]
pub(super) struct Captures {
    files: BTreeMap<(usize, usize), Capture>,
    /// The plan asks for some: in a copy too, which has no files.
    are_wanted: bool,
    error: Option<SimError>,
    /// Packets and events that are noted, where they are.
    pub(super) seen: Option<Seen>,
}

impl Captures {
    /// Whether no packet is written or noted.
    #[inline]
    pub(super) fn are_idle(&self) -> bool {
        self.files.is_empty() && self.seen.is_none()
    }
}

/// A copy goes on as the original, but for the files: it writes none.
impl Clone for Captures {
    fn clone(&self) -> Self {
        Self {
            are_wanted: self.are_wanted,
            seen: self.seen.clone(),
            ..Self::default()
        }
    }
}

impl Network {
    /// Opens the captures that the plan asks for.
    pub(super) fn open_captures(&mut self, plan: &Plan) -> Result<(), SimError> {
        let Some(wanted) = &plan.capture else {
            return Ok(());
        };
        for of in &wanted.interfaces {
            let interface = &self.nodes[of.node].interfaces[of.interface];
            let Some(link) = interface.link else {
                continue;
            };
            let path = wanted.file(&interface.subject);
            let capture =
                Capture::create(path.clone(), &interface.subject, link, wanted.snap_length)
                    .map_err(|error| SimError::Capture { path, error })?;
            self.captures.are_wanted = true;
            self.captures.files.insert((of.node, of.interface), capture);
        }
        Ok(())
    }

    /// Whether the packets of some interface are captured.
    pub(crate) fn has_captures(&self) -> bool {
        self.captures.are_wanted
    }

    /// Completes the files of the captures.
    pub(crate) fn finish_captures(&mut self) -> Result<(), SimError> {
        let captures = std::mem::take(&mut self.captures);
        if let Some(error) = captures.error {
            return Err(error);
        }
        for capture in captures.files.into_values() {
            let path = capture.path().to_owned();
            capture
                .finish()
                .map_err(|error| SimError::Capture { path, error })?;
        }
        Ok(())
    }

    /// Writes a packet to the capture of an interface, if it has one.
    #[inline]
    pub(super) fn capture(
        &mut self,
        of: (usize, usize),
        direction: PacketDirection,
        in_flight: &mut InFlight,
    ) {
        if self.captures.are_idle() {
            return;
        }
        self.note_packet(of, direction, in_flight);
        let Some(capture) = self.captures.files.get_mut(&of) else {
            return;
        };
        let written = match in_flight {
            InFlight::Packet(packet) => capture.write(self.now, direction, packet.packet()),
            InFlight::Frame(frame) => capture.write_frame(self.now, direction, frame),
        };
        if let Err(error) = written {
            let path = capture.path().to_owned();
            self.captures
                .error
                .get_or_insert(SimError::Capture { path, error });
        }
    }
}

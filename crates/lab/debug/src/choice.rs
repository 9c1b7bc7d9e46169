//! Choices of schedulers in words.

use mptcplab_stack::NotedChoice;

/// A choice in words: what goes where, and how the other subflows stood.
pub(crate) fn choice_text(noted: &NotedChoice) -> String {
    let choice = noted.choice;
    let mut text = format!("{} bytes of data from {}", choice.bytes, choice.from);
    let only_backups = noted.subflows.iter().all(|one| one.backup);
    for (place, one) in noted.subflows.iter().enumerate() {
        let why = match () {
            () if place == choice.subflow => "chosen",
            () if one.backup && !only_backups => "a backup",
            () if !one.has_room() => "no room",
            () => "had room, and the other was preferred",
        };
        text += &format!(
            "; subflow {} {why}: room {} of cwnd {}, {} queued, srtt {} µs",
            one.id,
            one.room_bytes,
            one.window_bytes,
            one.queued_bytes,
            one.smoothed_rtt_ns / 1000
        );
    }
    text
}

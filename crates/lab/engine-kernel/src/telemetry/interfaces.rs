//! Counters of a namespace's interfaces.

use std::io;

use mptcplab_link::Nanos;
use mptcplab_linux::interfaces::Interfaces;
use mptcplab_record::InterfaceSample;

/// Passes a row of every interface of the namespace but the loopback to `each`.
pub(super) fn interfaces(
    kernel: &mut Interfaces,
    (t_ns, node): (Nanos, &str),
    mut each: impl FnMut(InterfaceSample<'_>),
) -> io::Result<()> {
    for (interface, counters) in kernel.counters()? {
        if interface.is_loopback {
            continue;
        }
        each(InterfaceSample {
            t_ns,
            node,
            interface: &interface.name,
            rx_bytes: Some(counters.received_bytes),
            tx_bytes: Some(counters.sent_bytes),
            rx_packets: Some(counters.received_packets),
            tx_packets: Some(counters.sent_packets),
            rx_dropped: Some(counters.received_dropped),
            tx_dropped: Some(counters.sent_dropped),
            up: interface.has_carrier,
        });
    }
    Ok(())
}

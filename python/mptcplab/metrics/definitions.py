"""The metrics: names, units, formulas and sources. ``docs/metrics.md`` is this table in words.

A metric's full name is the name given here, or that name, a dot and a part: ``goodput.up``,
``share.wifi``, ``completion_s.p99``.
"""

from dataclasses import dataclass

PERCENTILES = (50, 90, 99)
"""Those that times are given by, as parts of a name: ``p50``."""
RECOVERY = "recovery_s"
"""The metric whose null means that it never came, not that it is unknown."""


@dataclass(frozen=True)
class Definition:
    """Meaning of a metric."""

    name: str
    title: str
    unit: str
    """Empty for plain numbers."""
    meaning: str
    formula: str
    parts: str = ""
    """Words that may follow the name after a dot; empty where none may."""
    source: str = "this project"
    title_of_part: str = ""
    """Title of a figure with a part, where that is another than the figure's without one."""


_LATENCY = "of the echoes and requests that were answered"

DEFINITIONS: dict[str, Definition] = {
    definition.name: definition
    for definition in (
        Definition(
            "goodput",
            "goodput",
            "Mbit/s",
            "payload delivered to the receiving applications, over time",
            "8 · Σ bytes / (last byte − first start) / 10⁶, over all transfers but requests and "
            "responses; a transfer that failed counts to its planned end, one with a size to the "
            "end of the run; of a command: the payload of its connections, both ways together",
            "`up` or `down`; a client's interface (its payload's share of the client's goodput); "
            "a flow; a client; CLIENT.INTERFACE",
            "RFC 2647, section 3.17",
        ),
        Definition(
            "share",
            "share of the payload",
            "",
            "part of the clients' payload that a path carried, 0 to 1",
            "payload of the client's subflows over the interface / payload of all its subflows; "
            "received for downloads, acknowledged for uploads, by the client's kernel",
            "a client's interface; CLIENT.INTERFACE (then of that client's payload alone)",
        ),
        Definition(
            "stream_share",
            "share of the stream",
            "",
            "part of the payload of bulk transfers with several streams that one stream delivered, "
            "0 to 1",
            "payload of the stream / payload of all streams",
            "the stream's number, from 1 (of all flows and both ways together); FLOW.NUMBER (then "
            "of that flow's payload alone)",
        ),
        Definition(
            "carried",
            "carried",
            "Mbit/s",
            "payload that the subflows of a path carried, what was sent over several paths counted "
            "on each: the paths sum up to more than the goodput by duplicates and by what was not "
            "delivered at the end",
            "8 · payload of the client's subflows over the interface / (last byte − first start) "
            "/ 10⁶; the payload as of share, the time as of goodput",
            "a client's interface; CLIENT.INTERFACE",
        ),
        Definition(
            "aggregation_benefit",
            "aggregation benefit",
            "",
            "what several paths gain over the best one: 0 as much as the best path, 1 as much as "
            "all together, −1 nothing; not clipped above 1",
            "(g − C_max) / (S − C_max) if g ≥ C_max, else (g − C_max) / C_max; C: goodput of "
            "the TCP variants, one an interface; S: ΣC, or what TCP over all interfaces at once "
            "carried where that is less; all in the same repetition",
            "",
            "Kaspar 2011; Paasch, Khalili, Bonaventure, CoNEXT 2013",
        ),
        Definition(
            "delay_benefit",
            "delay benefit",
            "",
            "the same for completion times: 0 as fast as the best path, 1 as fast as all together "
            "without loss, towards −1 far slower",
            "(T_best − T) / (T_best − T_ideal) if T ≤ T_best, else −(T − T_best) / T; "
            "T_ideal: 1 / Σ(1 / T_i), or the time in which TCP over all interfaces at once "
            "delivered as much where that is longer",
        ),
        Definition(
            "completion_s",
            "completion time",
            "s",
            "time from before connecting to the last byte, mean of the transfers that have a size "
            "and of the commands, where they ended without error",
            "mean of end − start; of a command with exit status 0: last byte − first SYN, over all "
            "its connections",
            "`p50`, `p90`, `p99`; a flow with a size, where there are several",
        ),
        Definition(
            "completed",
            "completed",
            "",
            "share of the transfers, and of the commands, that ended without error, 0 to 1",
            "without error / all; a command is without error that left with exit status 0 or whose "
            "planned time was over",
        ),
        Definition(
            RECOVERY,
            "recovery from failure",
            "s",
            "time from a failure to sustained delivery at the receiver; with a path: from its "
            "return to its sustained use. The worst of all failures; null if one never recovered, "
            "as is the mean of repetitions then",
            "first delivery after the failure that begins a second without a pause above 200 ms "
            "and with at least 5 % of the mean rate of the 5 s before; of a path: first moment "
            "after the return that begins a sample interval and a second with at least half of "
            "the path's mean rate over the 5 s before it failed",
            "a client's interface; a link, also one that fails further away (there by what the "
            "link itself carries)",
            title_of_part="return to use,",
        ),
        Definition(
            "handover_gap_s",
            "handover gap",
            "s",
            "longest silence at a receiver around a change of the network",
            "longest time without a delivery that touches the time from a change to the next one, "
            "up to the end of the transfer where nothing comes any more (by 10 ms bins; exact "
            "where it is the longest silence of the transfer)",
        ),
        Definition(
            "longest_silence_s",
            "longest silence",
            "s",
            "longest time between two deliveries to a receiver, over the whole run",
            "max of longest_silence_ns",
        ),
        Definition(
            "jain",
            "Jain's index",
            "",
            "fairness among the clients, or the streams: 1 when all get the same, 1/n when one "
            "gets all",
            "(Σx)² / (n · Σx²), x: goodput of a client, or of a stream of a bulk transfer, each "
            "way by itself; null below two",
            "`streams`",
            "Jain, Chiu, Hawe, DEC-TR-301, 1984",
        ),
        Definition(
            "share_of_ideal",
            "share of the ideal",
            "",
            "what several clients got of what their own links and those of their servers could "
            "carry, whatever lies between, 0 to 1",
            "goodput / min(Σ over senders, Σ over receivers) of rate × (mtu − 52 B) / (mtu + "
            "framing); null below two clients, and where a host's link has no fixed rate or is "
            "half duplex",
            "",
            "Raiciu and others, SIGCOMM 2011, section 4",
        ),
        Definition(
            "latency_s",
            "latency",
            "s",
            f"time to the answer, mean {_LATENCY}",
            "mean of rtt_ns; percentiles by linear interpolation (Hyndman and Fan, type 7)",
            "`p50`, `p90`, `p99`; a flow, and these of it: `latency_s.ping.p99`",
        ),
        Definition(
            "latency_loss",
            "unanswered",
            "",
            "share of the echoes and requests without an answer, 0 to 1",
            "unanswered / sent",
        ),
        Definition(
            "rtt_s",
            "round-trip time",
            "s",
            "smoothed round-trip time of the subflows, as their senders see it, queues included; "
            "mean of the samples from the first payload on",
            "mean of rtt_us of TCP_INFO at the sending ends, every sample of every subflow alike; "
            "percentiles as of latency_s",
            "`p50`, `p90`, `p99`; a client's interface, and these of it: `rtt_s.wifi.p99`",
            "RFC 6298 (SRTT)",
        ),
        Definition(
            "frames_in_time",
            "frames in time",
            "",
            "share of a stream's frames that were delivered before their deadline, 0 to 1",
            "frames with delay ≤ deadline / frames made; a frame is delivered with its last byte",
            "a flow",
        ),
        Definition(
            "frames_late",
            "frames late",
            "",
            "share of a stream's frames that were delivered after their deadline, 0 to 1",
            "frames with delay > deadline / frames made",
            "a flow",
        ),
        Definition(
            "frames_lost",
            "frames lost",
            "",
            "share of a stream's frames that had not been delivered at its end, a deadline after "
            "the last one was made, 0 to 1",
            "1 − frames delivered / frames made",
            "a flow",
        ),
        Definition(
            "frame_delay_s",
            "frame delay",
            "s",
            "time from the making of a frame to the delivery of its last byte, mean of those "
            "delivered",
            "mean of delay_ns; percentiles as of latency",
            "`p50`, `p90`, `p99`; a flow, and these of it: `frame_delay_s.stream.p99`",
        ),
        Definition(
            "establishment_s",
            "establishment",
            "s",
            "time from before the first SYN to the end of the handshake at the client, mean of the "
            "connections that came so far; of a join: to its establishment, from the same start",
            "mean of connected − start; of a join: mean of its time − start, over the connections "
            "that have it; of all clients, background included; commands count in neither",
            "`join1`, `join2` …: the first, second … additional subflow",
        ),
        Definition(
            "header_overhead",
            "header overhead",
            "",
            "part of the hosts' packets that is not payload, 0 to 1: headers of IP and TCP with "
            "their options, and acknowledgements",
            "1 − Σ bytes_sent / Σ offered_bytes, at least 0; bytes_sent: payload that the subflows "
            "sent, retransmissions included, both ends; offered_bytes: IP packets that the hosts "
            "handed to their links; of all hosts, background included; null where no payload was "
            "sent; missing beside echoes, datagrams and commands",
        ),
        Definition(
            "retransmitted_bytes",
            "retransmitted",
            "B",
            "payload that TCP sent again on the same subflow, both ends",
            "Σ over subflows of bytes_retrans (TCP_INFO)",
            "",
            "RFC 4898, tcpEStatsPerfOctetsRetrans",
        ),
        Definition(
            "reinjected_bytes",
            "reinjected",
            "B",
            "payload that MPTCP sent again on another subflow, both ends",
            "Σ over connections of bytes_retrans (MPTCP_INFO)",
            "",
            "RFC 8684, section 3.3.6",
        ),
        Definition(
            "undelivered_bytes",
            "received, not delivered",
            "B",
            "payload that the subflows of MPTCP received and the application had not got when the "
            "run ended, as data before it was missing: at most so much",
            "min(received − delivered − reinjected_bytes, sent − delivered), at least 0; received: "
            "payload of the subflows as of share; sent: Σ over connections of bytes_sent "
            "(MPTCP_INFO)",
        ),
        Definition(
            "duplicate_bytes",
            "received again",
            "B",
            "payload that the subflows of MPTCP received more than once, as it was sent over "
            "several: at least so much",
            "received − delivered − undelivered_bytes, at least 0",
        ),
        Definition(
            "joins",
            "joined subflows",
            "",
            "additional subflows established, least of the MPTCP connections",
            "min of joins",
        ),
        Definition(
            "multipath",
            "really multipath",
            "",
            "1 if every MPTCP connection got the additional subflows that the topology gives "
            "reason to expect and none fell back to TCP, 0 if one is known to fall "
            "short; null if none is, but one is not known",
            "joins ≥ expected joins, and no fallback",
        ),
        Definition(
            "steady",
            "steady",
            "",
            "1 if the goodput had come to a steady state, 0 if it changed in the last third of the "
            "run by 10 % or more, or was there other by 10 % or more than over the whole run",
            "see *Steady state* below",
        ),
        Definition(
            "goodput_variation",
            "variation of the goodput",
            "",
            "how much the goodput varies from second to second, as part of its mean: 0 where it is "
            "constant",
            "s / mean of the payload delivered in each whole second of the time in which all "
            "transfers were going on, s: standard deviation (n − 1); missing where that is less "
            "than 5 s, and where a transfer has a size or failed",
            "a flow, where there are several",
            "coefficient of variation, as of Floyd, Handley, Padhye, Widmer, SIGCOMM 2000",
        ),
    )
}


def definition_of(metric: str) -> Definition | None:
    """The definition of a full metric name, or none if there is no such metric."""
    name, dot, _ = metric.partition(".")
    definition = DEFINITIONS.get(name)
    if definition is None or (dot and not definition.parts):
        return None
    return definition

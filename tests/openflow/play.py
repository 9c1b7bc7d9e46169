"""A test played on a switch, and the verdict."""

from dataclasses import dataclass
from enum import StrEnum

from tests.openflow import messages
from tests.openflow.cases import Case, Egress, Ingress, PacketIn, Rate, Step, TableMiss, Throughput
from tests.openflow.switch import Output, Switch

_TOLERANCE = 0.1
_LEAST_BYTES = 60
_NS = 1_000_000_000
_VLANS = (0x8100, 0x88A8)
_IPV4, _IPV6 = 0x0800, 0x86DD


class Result(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True)
class Verdict:
    result: Result
    reason: str = ""


def play(switch: Switch, case: Case) -> Verdict:
    """Sets a switch up anew and plays a test.

    A switch may refuse to be set up: by errors of OpenFlow, which are the reason.
    """
    if errors := messages.errors(switch.tell(*messages.clear()).messages):
        return Verdict(Result.FAILED, f"not cleared: {', '.join(errors)}")
    if errors := messages.errors(switch.tell(*case.messages).messages):
        return Verdict(Result.REFUSED, ", ".join(errors))
    for step in case.steps:
        if (wrong := _difference(switch, step)) is not None:
            return Verdict(Result.FAILED, wrong)
    return Verdict(Result.PASSED)


def is_conforming(case: Case, verdict: Verdict) -> bool:
    """Whether a verdict on our switch is as it must be: tests of what it leaves out it refuses by
    an error."""
    return verdict.result == Result.PASSED or (
        case.is_left_out and verdict.result == Result.REFUSED
    )


def _difference(switch: Switch, step: Step) -> str | None:
    """The difference between what is to come of packets and what comes; null where there is
    none."""
    before = messages.tables(switch.tell(messages.ask_tables()).messages)
    given = step.ingress
    output = switch.give(1, given.frames, given.count, given.interval_ns)
    match step.expected:
        case Egress(frame):
            return _wrong(output, [f"1 of {_padded(frame)} by port 2"])
        case PacketIn(frame):
            return _wrong(output, [f"{_padded(frame)} to the controller"])
        case TableMiss(tables):
            after = messages.tables(switch.tell(messages.ask_tables()).messages)
            return _wrong(output, []) or _hits(before, after, tables)
        case Throughput(rates):
            wrong = (_off(output, rate, given) for rate in rates)
            return "; ".join(one for one in wrong if one is not None) or None


def _wrong(output: Output, expected: list[str]) -> str | None:
    """The output, where it is not as expected."""
    frames = [
        f"{count} of {_padded(frame)} by port {port}"
        for (port, frame), count in output.frames.items()
    ]
    packets = [
        f"{_padded(packet)} to the controller" for packet in messages.packets_in(output.messages)
    ]
    got = [*frames, *packets, *messages.errors(output.messages)]
    return None if got == expected else f"{got} instead of {expected}"


def _padded(frame: bytes) -> str:
    """A frame as a link carries it: os-ken's have the least length already."""
    return frame.ljust(_LEAST_BYTES, b"\0").hex()


def _hits(
    before: dict[int, messages.TableCounts],
    after: dict[int, messages.TableCounts],
    missing: tuple[int, ...],
) -> str | None:
    """The tables whose counters do not say that a packet found no entry there."""
    wrong = [
        f"table {one}: {before[one]} became {after[one]}"
        for one in missing
        if after[one].looked_up != before[one].looked_up + 1
        or after[one].matched != before[one].matched
    ]
    return "; ".join(wrong) or None


def _off(output: Output, rate: Rate, given: Ingress) -> str | None:
    """The measured rate where it is not within the tolerance."""
    picked = [
        (len(frame), count)
        for (port, frame), count in output.frames.items()
        if _matches(rate, port, frame)
    ]
    seconds = given.count * given.interval_ns / _NS
    bits = sum(8 * length * count for length, count in picked)
    packets = sum(count for _, count in picked)
    measured = bits / 1000 / seconds if rate.unit == "kbps" else packets / seconds
    if abs(measured - rate.rate) <= _TOLERANCE * rate.rate:
        return None
    return f"{dict(rate.match)}: {measured:.1f} {rate.unit} instead of {rate.rate}"


def _matches(rate: Rate, port: int, frame: bytes) -> bool:
    fields = {"in_port": port, **_fields(frame)}
    return all(fields.get(name) == value for name, value in rate.match)


def _fields(frame: bytes) -> dict[str, int]:
    """The fields that tests pick frames by, but the port."""
    at = 12
    while int.from_bytes(frame[at : at + 2]) in _VLANS:
        at += 4
    eth_type = int.from_bytes(frame[at : at + 2])
    fields = {"eth_type": eth_type}
    if eth_type == _IPV4:
        fields["ip_dscp"] = frame[at + 3] >> 2
    elif eth_type == _IPV6:
        fields["ip_dscp"] = int.from_bytes(frame[at + 2 : at + 4]) >> 6 & 0x3F
    return fields

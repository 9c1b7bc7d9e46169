"""Payload, checksums and data in the SYN as sentences of a verdict."""

from __future__ import annotations

from collections.abc import Sequence

from mptcplab.measure.passing import NOT_REACHED, Passing, SynData
from mptcplab.measure.plan import COMPARED_BYTES
from mptcplab.measure.words import listed

_SYN_SENTENCES = {
    SynData.REFUSED: (
        "Data in the SYN of {protocol} come through on {name} with their cookie, and the target "
        "takes none of them: it may see another address than the one that asked for the cookie"
    ),
    SynData.DROPPED: "{name} takes data out of the SYN of {protocol}",
    SynData.STRIPPED: "{name} takes out the option of TCP Fast Open ({protocol})",
    SynData.LOST: "{name} loses SYNs of {protocol} that have data, which come without them later",
}


def passing_sentences(names: Sequence[str], passing: Sequence[Passing]) -> list[str]:
    """For all that does not pass, or was not tested, with the reason; none where all passes."""
    told = []
    for name, one in zip(names, passing, strict=True):
        told += _not_passing(name, one)
    return told + _not_tested(names, passing)


def _not_passing(name: str, one: Passing) -> list[str]:
    told = []
    if one.payload is False:
        if one.changed_bytes:
            count = f"{one.changed_bytes} of {2 * COMPARED_BYTES} bytes came as other ones"
            told.append(f"{name} changes payload: {count}.")
        elif not one.wrong_checksums:
            told.append(
                f"{name} changes payload: the target did not know a connection by its first bytes."
            )
        else:
            told.append(f"{name} changes payload.")
    if one.checksum is False:
        count = f"{one.wrong_checksums} mapping{'' if one.wrong_checksums == 1 else 's'}"
        told.append(
            f"Checksums of MPTCP fail on {name} ({count}): such connections fall back to TCP, or "
            "are reset."
        )
    return told + _syn_sentences(name, one)


def _syn_sentences(name: str, one: Passing) -> list[str]:
    if one.tcp_syn is one.mptcp_syn and one.tcp_syn in _SYN_SENTENCES and one.tcp_syn is not None:
        return [_syn_sentence(one.tcp_syn, name, "TCP and of MPTCP") + _fallback(one)]
    told = []
    if one.tcp_syn is not None and one.tcp_syn in _SYN_SENTENCES:
        told.append(_syn_sentence(one.tcp_syn, name, "TCP") + ".")
    if one.mptcp_syn is not None and one.mptcp_syn in _SYN_SENTENCES:
        told.append(_syn_sentence(one.mptcp_syn, name, "MPTCP") + _fallback(one))
    elif one.mptcp_syn is SynData.ACKNOWLEDGED and one.fell_back:
        told.append(f"A connection by MPTCP with data in its SYN was TCP on {name}.")
    return told


def _syn_sentence(fate: SynData, name: str, protocol: str) -> str:
    return _SYN_SENTENCES[fate].format(name=name, protocol=protocol)


def _fallback(one: Passing) -> str:
    return "; MPTCP then falls back to TCP." if one.fell_back else "."


def _not_tested(names: Sequence[str], passing: Sequence[Passing]) -> list[str]:
    """One sentence for each reason, with the paths that it is about where these are not all."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, one in zip(names, passing, strict=True):
        unknown = {
            "payload": one.payload_unknown,
            "checksums of MPTCP": one.checksum_unknown,
            "data in the SYN of TCP": one.tcp_syn_unknown,
            "data in the SYN of MPTCP": one.mptcp_syn_unknown,
        }
        if one.tcp_syn_unknown == one.mptcp_syn_unknown:
            del unknown["data in the SYN of MPTCP"]
            unknown["data in the SYN"] = unknown.pop("data in the SYN of TCP")
        for words, reason in unknown.items():
            # The sentence about the early end tells that.
            if reason is not None and reason != NOT_REACHED:
                reasons.setdefault((words, reason), []).append(name)
    return [
        f"Not tested{'' if len(which) == len(names) else ' on ' + listed(which)}: {words}: {why}."
        for (words, why), which in reasons.items()
    ]

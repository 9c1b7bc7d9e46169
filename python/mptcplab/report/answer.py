"""The result in plain words, from the metrics alone."""

from collections.abc import Sequence

from mptcplab.metrics import Estimate, VariantMetrics, Verdict
from mptcplab.report.best_path import beside_sum, compared
from mptcplab.report.flows import own_client
from mptcplab.report.numbers import estimate_with_unit, shown_with_unit

MOST_AT_LENGTH = 3
"""With more variants than this, each gets one sentence."""
MOST_ALONE = 12
"""With more variants than this, only those get one that TCP is beside; the table has the others."""


def answer(variants: Sequence[VariantMetrics], verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """A few sentences: what each MPTCP variant reached beside TCP, and which findings hold."""
    told = [variant for variant in variants if variant.protocol == "mptcp"] or variants
    by_name = {variant.name: variant for variant in variants}
    sentences: list[str] = []
    for variant in told:
        plain = [by_name[name] for name in variant.plain]
        client = own_client(variant)
        if plain or len(told) <= MOST_ALONE:
            sentences += compared(variant, plain, client)
        sentences.append(_honesty(variant))
        if len(told) <= MOST_AT_LENGTH:
            sentences += [beside_sum(variant, plain), _shares(variant, client), _recovery(variant)]
    if verdicts:
        sentences.append(_findings(verdicts))
    return tuple(sentence for sentence in sentences if sentence)


def _honesty(variant: VariantMetrics) -> str:
    multipath = variant.metrics.get("multipath")
    if multipath is None or multipath.mean is None or multipath.mean == 1:
        return ""
    affected = round((1 - multipath.mean) * multipath.known)
    return (
        f"Attention: {variant.name} was not really multipath in {affected} of "
        f"{multipath.known} repetitions."
    )


def _shares(variant: VariantMetrics, client: str | None) -> str:
    """How the payload of all clients, or of one, was divided among the paths."""
    shares = _parts(variant, "share" if client is None else f"share.{client}")
    if len(shares) < 2:
        return ""
    words = ", ".join(
        f"{shown_with_unit('share', share.mean)} over {interface}"
        for interface, share in shares.items()
    )
    return f"Its payload went {words}."


def _recovery(variant: VariantMetrics) -> str:
    recovery = variant.metrics.get("recovery_s")
    if recovery is None:
        return ""
    if recovery.mean is None:
        if not recovery.known:
            return f"{variant.name} did not recover from the failure before its end."
        some = f"{recovery.known} of {len(recovery.samples)} repetitions"
        return f"{variant.name} recovered from the failure before its end in only {some}."
    gap = variant.metrics.get("handover_gap_s")
    silence = ""
    if gap is not None and gap.mean:
        silence = (
            f"; the longest silence around a change was {estimate_with_unit('handover_gap_s', gap)}"
        )
    if recovery.mean == 0:
        return f"Delivery over {variant.name} went on through the failure{silence}."
    return (
        f"Delivery over {variant.name} was sustained again "
        f"{estimate_with_unit('recovery_s', recovery)} after the failure{silence}."
    )


def _findings(verdicts: Sequence[Verdict]) -> str:
    held = sum(verdict.held is True for verdict in verdicts)
    failed = sum(verdict.held is False for verdict in verdicts)
    undecided = len(verdicts) - held - failed
    if held == len(verdicts):
        return "The finding holds." if held == 1 else f"All {held} findings hold."
    words = f"{held} of {len(verdicts)} findings hold"
    if failed:
        words += f", {failed} {'does' if failed == 1 else 'do'} not"
    if undecided:
        words += f", {undecided} {'is' if undecided == 1 else 'are'} undecided"
    return words + "."


def _parts(variant: VariantMetrics, metric: str) -> dict[str, Estimate]:
    """The figures of a metric's parts that are one word: interfaces, not CLIENT.INTERFACE."""
    parts = {
        name.removeprefix(f"{metric}."): figure
        for name, figure in variant.metrics.items()
        if name.startswith(f"{metric}.")
    }
    return {part: figure for part, figure in parts.items() if "." not in part}

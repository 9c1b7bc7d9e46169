"""Figures as words: rounding, units, intervals."""

import math

from mptcplab.metrics import Estimate, definition_of

UNKNOWN = "–"
NEVER = "not recovered"
"""Shown for a recovery time that the end of the run cut off."""
DIGITS = 3
"""Significant digits; numbers below a thousand have at least one decimal."""
MORE_DECIMALS = 2
"""By which the interval may lengthen a mean."""


def number(value: float | None, decimals: int | None = None) -> str:
    """The value, rounded by :func:`decimals_of` or to so many decimals."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    places = decimals_of(value) if decimals is None else decimals
    return f"{value:.{places}f}".replace("-", "−")


def decimals_of(value: float) -> int:
    """How many decimals show three significant digits of the value, or one decimal below 1000."""
    if value == 0:
        return 0
    least = 1 if abs(value) < 1000 else 0
    return max(least, DIGITS - 1 - math.floor(math.log10(abs(value))))


def with_half(mean: float, half: float) -> str:
    """A mean ± half its interval, to the decimals of the larger one.

    Where these show nothing of the half, to more, :data:`MORE_DECIMALS` at most: a half that needs
    more is no part of the mean that a reader could use, and is shown as 0.
    """
    if half > abs(mean):
        decimals = min(decimals_of(mean), decimals_of(half))
        decimals = max(decimals, _first_decimal(half))
    else:
        decimals = decimals_of(mean)
        if half > 0 and _first_decimal(half) <= decimals + MORE_DECIMALS:
            decimals = max(decimals, _first_decimal(half))
    return f"{number(mean, decimals)} ± {number(half, decimals)}"


def _first_decimal(value: float) -> int:
    """The decimal of the first significant digit."""
    return -math.floor(math.log10(value))


def shown(metric: str, value: float | None) -> str:
    """The value of a metric without its unit; shares in percent, bytes with a prefix."""
    if value is None:
        return UNKNOWN
    scale, _ = _display(metric, value)
    return number(value * scale)


def shown_with_unit(metric: str, value: float | None) -> str:
    """The value of a metric with its unit."""
    if value is None:
        return UNKNOWN
    scale, unit = _display(metric, value)
    return f"{number(value * scale)} {unit}".rstrip()


def estimate_shown(metric: str, figure: Estimate | None) -> str:
    """Mean ± half the 95 % interval, without the unit; how many samples if some are unknown.

    Of a recovery time without a mean: in how many repetitions it came.
    """
    if figure is None:
        return UNKNOWN
    if figure.mean is None:
        if not metric.startswith("recovery_s"):
            return UNKNOWN
        return f"recovered in {figure.known} of {len(figure.samples)}" if figure.known else NEVER
    scale, _ = _display(metric, figure.mean)
    mean, half = figure.mean * scale, figure.half_width
    text = number(mean) if half is None else with_half(mean, half * scale)
    if figure.known < len(figure.samples):
        text += f" ({figure.known} of {len(figure.samples)})"
    return text


def estimate_with_unit(metric: str, figure: Estimate | None) -> str:
    """As :func:`estimate_shown`, with the unit."""
    text = estimate_shown(metric, figure)
    if figure is None or figure.mean is None:
        return text
    return f"{text} {_display(metric, figure.mean)[1]}".rstrip()


def heading(metric: str, typical: float | None = None) -> tuple[str, str]:
    """Title and unit of a metric for the head of a table."""
    definition = definition_of(metric)
    if definition is None:
        return metric, ""
    _, _, part = metric.partition(".")
    title = definition.title if not part else definition.title_of_part or definition.title
    title = f"{title} {part}".strip()
    return title, _display(metric, 0.0 if typical is None else typical)[1]


def scale(metric: str) -> float:
    """The factor from the metric's unit to that of its heading."""
    return _display(metric, 0.0)[0]


_PERCENT = {
    "share",
    "stream_share",
    "completed",
    "latency_loss",
    "header_overhead",
    "frames_in_time",
    "frames_late",
    "frames_lost",
    "goodput_variation",
}
_MILLISECONDS = {"latency_s", "frame_delay_s", "establishment_s"}
_PREFIXES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def _display(metric: str, value: float) -> tuple[float, str]:
    """The factor by which a value is shown, and the unit that it has then."""
    name = metric.partition(".")[0]
    definition = definition_of(metric)
    if name in _PERCENT:
        return 100.0, "%"
    if definition is None:
        return 1.0, ""
    if name in _MILLISECONDS:
        return 1e3, "ms"
    if definition.unit == "B":
        for size, prefix in _PREFIXES:
            if abs(value) >= size:
                return 1 / size, prefix
    return 1.0, definition.unit

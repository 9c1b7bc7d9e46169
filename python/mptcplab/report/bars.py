"""A metric of the variants of one result, or of several over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mptcplab.metrics import VariantMetrics
from mptcplab.report.canvas import LOOK
from mptcplab.report.numbers import heading, scale
from mptcplab.report.palette import styles


def bars(
    results: Mapping[str, Sequence[VariantMetrics]], metric: str, width_inches: float
) -> Figure:
    """A group of bars a variant, a bar a result (by its name), with 95 % intervals."""
    names = list(dict.fromkeys(one.name for own in results.values() for one in own))
    factor = scale(metric)
    with mpl.rc_context(LOOK):
        figure = Figure(figsize=(width_inches, 0.7 * width_inches), layout="constrained")
        axes = figure.subplots()
        axes.set_axisbelow(True)
        wide = 0.8 / len(results)
        for place, (label, style) in enumerate(styles(results).items()):
            known = {one.name: one.metrics.get(metric) for one in results[label]}
            found = [known.get(name) for name in names]
            means = [None if one is None else one.mean for one in found]
            half = [None if one is None else one.half_width for one in found]
            at = np.arange(len(names)) + (place - (len(results) - 1) / 2) * wide
            axes.bar(
                at,
                [np.nan if mean is None else mean * factor for mean in means],
                wide,
                yerr=[np.nan if one is None else one * factor for one in half]
                if any(half)
                else None,
                label=label,
                color=style.colour,
                capsize=2,
                error_kw={"linewidth": 0.8},
            )
        axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 4 else 0)
        title, unit = heading(metric)
        axes.set_ylabel(f"{title} in {unit}" if unit else title)
        axes.axhline(0, color="#555555", linewidth=0.6)
        if len(results) > 1:
            figure.legend(loc="outside upper center", ncols=2, fontsize=7)
    return figure

"""Box plots: median, quartiles, the range without outliers, and the outliers as circles."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl

from mptcplab.report.canvas import LOOK, figure_of, svg_of


def boxes(samples: Mapping[str, Sequence[float]], label: str) -> str | None:
    """A box for each name; null if there are no samples.

    Whiskers reach to the last sample within 1.5 times the distance of the quartiles (Tukey).
    """
    known = {name: list(values) for name, values in samples.items() if values}
    if not known:
        return None
    with mpl.rc_context(LOOK | {"axes.grid.axis": "x"}):
        figure = figure_of(0.9 + 0.36 * len(known))
        axes = figure.subplots()
        figure.subplots_adjust(left=0.22)
        axes.boxplot(
            list(known.values())[::-1],
            orientation="horizontal",
            widths=0.55,
            tick_labels=[f"{name} (n = {len(values)})" for name, values in known.items()][::-1],
            medianprops={"color": "#D55E00", "linewidth": 1.8},
            flierprops={"marker": "o", "markersize": 3.5, "markerfacecolor": "none"},
        )
        axes.set_xlabel(label)
        axes.set_xlim(left=0)
        return svg_of(figure)

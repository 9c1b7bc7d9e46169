"""Tables and figures as files for papers and other programs, by the suffix of the file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mptcplab.report.numbers import number, with_half

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLES = (".csv", ".parquet", ".tex")
FIGURES = (".png", ".svg", ".pdf")
COLUMN = "84mm"
"""Width of a column of the usual two."""
_DPI = 300
_INCHES = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0}
_WIDTH = re.compile(r"(\d{1,4}(?:\.\d{1,4})?)\s*(mm|cm|in)")
_PLUS_MINUS = r"\pm"
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


class ExportError(ValueError):
    """A file or a width that there is no way to write; the text says what there is."""


def table_bytes(frame: pl.DataFrame, file: Path) -> bytes:
    """The content of a file of a table: CSV, Parquet, or a tabular of LaTeX with booktabs.

    In LaTeX a column `x` with `x_low` and `x_high` is one, mean ± half the interval.

    Raises:
        ExportError: the suffix is none of these.

    """
    content = io.BytesIO()
    match file.suffix:
        case ".csv":
            frame.write_csv(content)
        case ".parquet":
            frame.write_parquet(content, compression="zstd")
        case ".tex":
            content.write(latex(frame).encode())
        case _:
            raise ExportError(f"{file}: a table's file ends in {', '.join(TABLES)}")
    return content.getvalue()


def figure_bytes(figure: Figure, file: Path) -> bytes:
    """The content of a file of a figure: PNG, SVG or PDF.

    Raises:
        ExportError: the suffix is none of these.

    """
    if file.suffix not in FIGURES:
        raise ExportError(f"{file}: a figure's file ends in {', '.join(FIGURES)}")
    content = io.BytesIO()
    figure.savefig(content, format=file.suffix[1:], dpi=_DPI)
    return content.getvalue()


def width_inches(text: str) -> float:
    """The inches of a width such as `84mm`, 1 to 40.

    Raises:
        ExportError: it is no such width.

    """
    found = _WIDTH.fullmatch(text.strip())
    inches = float(found[1]) * _INCHES[found[2]] if found else 0.0
    if not 1 <= inches <= 40:
        raise ExportError(f"'{text}': give a width of 1 to 40 inches, such as {COLUMN}, 8.4cm, 7in")
    return inches


def latex(frame: pl.DataFrame) -> str:
    """The frame as a tabular."""
    ends = {name for name in frame.columns if {f"{name}_low", f"{name}_high"} <= set(frame.columns)}
    left_out = {f"{name}{end}" for name in ends for end in ("_low", "_high")}
    names = [name for name in frame.columns if name not in left_out]
    sides = "".join("r" if frame[name].dtype.is_numeric() else "l" for name in names)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", _row(map(_escaped, names))]
    lines.append(r"\midrule")
    for row in frame.iter_rows(named=True):
        lines.append(_row(_cell(row, name, is_estimate=name in ends) for name in names))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _cell(row: dict[str, Any], name: str, *, is_estimate: bool) -> str:
    value = row[name]
    if value is None:
        return "--"
    if not isinstance(value, float):
        return _escaped(str(value))
    high = row[f"{name}_high"] if is_estimate else None
    text = number(value) if high is None else with_half(value, high - value)
    return f"${text.replace('−', '-').replace('±', _PLUS_MINUS)}$"


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(one, rf"\{one}" if one in "&%$#_{}" else one) for one in text)

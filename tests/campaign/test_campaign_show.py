"""The tables of a sweep on a terminal."""

from io import StringIO

from rich.console import Console

from mptcplab.campaign.report import Table
from mptcplab.campaign.show import drawn


def test_a_narrow_terminal_folds_names_and_keeps_figures() -> None:
    figures = ("0.106", "−0.0318", "−0.00156", "1234567", "0.0144", "−0.0402")
    table = Table(
        "delay_benefit",
        "delay benefit",
        ("links.common.rate", "variant", *(f"{part} %" for part in range(6))),
        (("20 Mbit/s", "mptcp-with-a-long-name", *figures),),
    )
    console = Console(file=StringIO(), width=80, color_system=None)
    console.print(drawn(table))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text
    assert all(figure in text for figure in figures)

"""Drawings of a scenario: `draw_text` for the terminal, `draw_svg` for pages and print."""

from mptcplab.scenario.topology.svg import draw_svg
from mptcplab.scenario.topology.text import draw_text

__all__ = ["draw_svg", "draw_text"]

"""Pages that several tests look at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.report.sample import sample
from tests.trace.tabulate import write

from mptcplab.report import report, to_html
from mptcplab.trace import open_tables, view
from mptcplab.trace.render.html import to_html as trace_page

NETWORK = """\
hosts:
  client: {interfaces: {wifi: {}, eth: {}}}
  server: {interfaces: {wifi: {}, eth: {}}}
links:
  wifi: {between: [client.wifi, server.wifi], rate: 100 Mbit/s}
  eth: {between: [client.eth, server.eth], rate: 100 Mbit/s}
traffic: [{bulk: {from: client, to: server, duration: 20 s}}]
"""
"""The network of the result made by hand."""


def result_page(folder: Path) -> str:
    """The page of the result made by hand, which shows its network."""
    made = report(sample(folder))
    scenario = made.description.scenario.model_copy(update={"text": NETWORK})
    description = made.description.model_copy(update={"scenario": scenario})
    return to_html([replace(made, description=description)])


def capture_page(folder: Path) -> str:
    """The page of the capture of all stories."""
    return trace_page(view(open_tables(write(folder))))

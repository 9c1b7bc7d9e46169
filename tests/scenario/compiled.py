"""Compiled variants of a scenario of two paths."""

from pathlib import Path
from typing import Any

from mptcplab.engine.compile import compile_plan
from mptcplab.scenario import loads

BASE = """\
hosts:
  client: {{interfaces: {{wifi: {{}}, eth: {{}}}}}}
  server: {{interfaces: {{lan: {{}}, eth: {{}}}}}}
routers: {{ap: {{}}}}
links:
  wifi: {{between: [client.wifi, ap.wlan]{wifi}}}
  lan: {{between: [ap.lan, server.lan], rate: 1 Gbit/s}}
  eth: {{between: [client.eth, server.eth], rate: 100 Mbit/s, delay: 10 ms}}
traffic:
  - {traffic}
{more}
"""
BULK = "bulk: {from: client, to: server, way: up, duration: 10 s}"


def plan(
    wifi: str = "",
    traffic: str = BULK,
    more: str = "",
    variant: str = "mptcp",
    folder: Path = Path(),
) -> Any:
    text = BASE.format(wifi=f", {wifi}" if wifi else "", traffic=traffic, more=more)
    return compile_plan(loads(text, folder=folder), variant, seed=7).to_json()


def direction(wifi: str, index: int = 0, folder: Path = Path()) -> Any:
    return plan(wifi, folder=folder)["links"][0]["config"]["directions"][index]


def flow(traffic: str = BULK) -> Any:
    (made,) = plan(traffic=traffic)["traffic"]
    return made

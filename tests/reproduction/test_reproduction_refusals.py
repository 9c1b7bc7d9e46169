"""Where an engine refuses a variant, the others run, and its cells alone are not compared."""

from pathlib import Path

from mptcplab.engine.choice import KERNEL, unsupported
from mptcplab.interruption import Interruption
from mptcplab.progress import RunProgress
from mptcplab.reproduction.beside import Figure, account
from mptcplab.reproduction.manner import Manner
from mptcplab.reproduction.marks import Mark
from mptcplab.reproduction.needs import needs
from mptcplab.reproduction.pictures import pictures
from mptcplab.reproduction.reading import chosen, parse, read
from mptcplab.reproduction.running import measured, parts, run
from mptcplab.scenario import load

SCENARIO = """
hosts: {client: {interfaces: {a: {}}}, server: {interfaces: {a: {}}}}
links: {a: {between: [client.a, server.a], rate: 10 Mbit/s, delay: 1 ms}}
traffic: [bulk: {from: client, to: server, duration: 100 ms}]
variants:
  tcp: {protocol: tcp}
  tcp-bbr: {protocol: tcp, set: {hosts.client.congestion_control: bbr}}
"""
DOCUMENT = """
name: refused
title: a document
about: it
quick: 100 ms
items:
  - table: "1"
    section: "1"
    caption: a table
    scenario: SCENARIO
    columns: [plain, by BBR, ratio]
    rows:
      - - {here: tcp.goodput, document: 9 Mbit/s}
        - {here: tcp-bbr.goodput, document: 9 Mbit/s}
        - {here: tcp-bbr.goodput / tcp.goodput, document: 100 %}
    says:
      - {text: it carries, finding: tcp.goodput > 0}
      - {text: BBR carries, finding: tcp-bbr.goodput > 0}
    plots:
      - {kind: bars}
"""


def test_what_the_engine_can_run_runs(tmp_path: Path) -> None:
    own = tmp_path / "partly.yaml"
    own.write_text(SCENARIO, encoding="utf-8")
    document = parse(DOCUMENT.replace("SCENARIO", str(own)), "d.yaml")
    manner = Manner("sim", quick=True, workers=1)
    (part,) = parts(document, manner)
    (refusal,) = part.refusals.items()
    assert refusal[0] == "tcp-bbr"
    assert refusal[1].startswith("the sim engine has no congestion control bbr: ")

    progressed = run(
        [part],
        tmp_path,
        manner,
        command=("mptcplab",),
        followed=lambda jobs, name: RunProgress(jobs, name, None),
        interruption=Interruption(),
    )
    assert (progressed.done, progressed.failures) == (1, ())

    shown = account(document, measured([part], tmp_path, {}))
    (item,) = shown.items
    plain, by_bbr, ratio = item.rows[0]
    assert isinstance(plain, Figure)
    assert plain.mark is Mark.AGREES
    for cell in (by_bbr, ratio):
        assert isinstance(cell, Figure)
        assert (cell.mark, cell.note) == (Mark.INCOMPARABLE, refusal[1])
    assert [said.mark for said in item.says] == [Mark.AGREES, Mark.INCOMPARABLE]
    ((picture,),) = pictures(shown, tmp_path)
    assert (picture.content is None, picture.missing) == (False, "")


def test_the_kernel_refuses_one_variant_of_those_that_schedulers_are_compared_by() -> None:
    for need in needs(chosen(read("torino"), (), ("5.25", "5.26"))):
        scenario = load(need.scenario)
        refused = [name for name in need.variants if unsupported(KERNEL, scenario, [name])]
        assert refused == ["lowest-rtt"]
        assert set(need.variants) == {"lowest-rtt", "round-robin", "default"}

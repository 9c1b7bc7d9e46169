"""`doctor`: what this machine can do, and what to do about the rest."""

from __future__ import annotations

import json

import typer

from mptcplab.engine.finding import Verdict
from mptcplab.engine.kernel.examine import examine as examine_kernel
from mptcplab.engine.sim.examine import examine as examine_sim

_SIGNS = {Verdict.GOOD: "good   ", Verdict.LIMITED: "limited", Verdict.BAD: "BAD    "}


def examine(*, as_json: bool) -> None:
    """Prints the findings; exit status 1 when an engine cannot run."""
    findings = [*examine_kernel(), examine_sim()]
    if as_json:
        typer.echo(json.dumps([finding.as_dict() for finding in findings], indent=1))
    else:
        for finding in findings:
            typer.echo(f"{_SIGNS[finding.verdict]}  {finding.name}: {finding.detail}")
            if finding.hint:
                typer.echo(f"         → {finding.hint}")
    if any(finding.verdict is Verdict.BAD for finding in findings):
        raise typer.Exit(1)

"""Sessions as they are opened: of a scenario, and of a run that went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from pydantic import ValidationError

from mptcplab.debugger.failure import Failure, failed_finding, first_failure
from mptcplab.debugger.problem import DebugError
from mptcplab.debugger.session import Session
from mptcplab.engine.choice import EngineName
from mptcplab.engine.compile import compile_plan
from mptcplab.plan import Plan
from mptcplab.recording import Result
from mptcplab.scenario import Scenario, loads_kept
from mptcplab.session import Settings, load_known, prepare

_ENGINE = "sim"


def debug(
    scenario: Scenario | str | PathLike[str],
    *,
    variant: str | None = None,
    seed: int = 1,
    duration: str | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
) -> Session:
    """Opens a session of a scenario in the simulator, at time 0.

    Args:
        scenario: A scenario, a name of the catalogue, or a YAML file.
        variant: Name of a variant; the first over MPTCP unless given, or else the first.
        seed: Seed of all that is random: that of the first repetition of `run`.
        duration: Duration of every bulk transfer, such as `"10 s"`.
        set: Values at dotted paths: `{"links.wifi.rate": "20 Mbit/s"}`.

    Raises:
        ScenarioError: the scenario has problems, or the simulator cannot run it.
        DebugError: it needs an algorithm that cannot be copied.

    """
    own = scenario if isinstance(scenario, Scenario) else load_known(scenario)
    name = variant or _usual(own)
    settings = Settings(
        engine=EngineName.SIM,
        variants=(name,),
        seed=seed,
        duration=duration,
        overrides=dict(set or {}),
    )
    prepared = prepare(own, settings)
    return Session.opened(compile_plan(prepared.scenario, name, seed), prepared.scenario, name)


def debug_failure(
    result: Result | str | PathLike[str], *, at_finding: int | None = None
) -> tuple[Session, Failure]:
    """Opens a session of a run of a result, at the moment that something is about which failed.

    Args:
        result: A result of the simulator, or its folder.
        at_finding: Number of a finding that does not hold, from 1, in the order of reports; unless
            given the first run in which a transfer failed, or else the first such finding.

    Returns:
        The session, at the moment that the finding names, or at the end of the run; and the
        failure.

    Raises:
        RecordingError: it is no result, or damaged.
        ScenarioError: this version cannot read its scenario.
        DebugError: it was not made by the simulator; nothing has failed, or there is no such
            finding; it needs an algorithm that cannot be copied.

    """
    own = result if isinstance(result, Result) else Result.open(result)
    told = own.description
    if told.engine != _ENGINE:
        raise DebugError(
            f"{own.folder}: was made by the engine {told.engine}, whose runs cannot be repeated: "
            "debug its scenario, which runs in the simulator then"
        )
    failed = first_failure(own) if at_finding is None else failed_finding(own, at_finding)
    manifest = failed.recording.manifest
    try:
        plan = Plan.model_validate(manifest.plan)
    except ValidationError:
        raise DebugError(
            f"{failed.recording.folder}: its plan is of another version of mptcplab, "
            f"{manifest.mptcplab}: run its scenario again"
        ) from None
    session = Session.opened(plan, loads_kept(told.scenario.text), manifest.variant)
    if failed.at_ns is None:
        session.run()
    else:
        session.run_until(failed.at_ns)
    return session, failed


def _usual(scenario: Scenario) -> str:
    over_mptcp = [name for name, one in scenario.variants.items() if one.protocol == "mptcp"]
    return next(iter([*over_mptcp, *scenario.variants]))

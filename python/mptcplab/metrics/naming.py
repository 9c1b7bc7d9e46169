"""Whether a scenario's findings and references name metrics that there are.

A finding about a name that no recording can have (``mptcp.goodputt``, ``mptcp.goodput.nosuch``)
could never be decided, which would show only after the run.
"""

from mptcplab.metrics.definitions import DEFINITIONS, PERCENTILES
from mptcplab.scenario import Problem, Scenario, for_variant
from mptcplab.scenario.expectation import parse
from mptcplab.scenario.flows import Flow, flows
from mptcplab.scenario.problem import did_you_mean, quoted
from mptcplab.scenario.traffic import Bulk, Stream

_MOST_JOINS = 8
"""Additional subflows whose establishment can be asked for: the most that a scenario allows."""


def unknown_metrics(scenario: Scenario) -> list[Problem]:
    """A problem for each name in ``expect`` and ``reference`` that means nothing."""
    parts = {variant: _parts(scenario, variant) for variant in scenario.variants}
    place = scenario.provenance.problem
    found = []
    for index, text in enumerate(entry.finding for entry in scenario.expect):
        for name in dict.fromkeys(parse(text).names()):
            wrong = _wrong(name.metric, parts[name.variant])
            if wrong is not None:
                found.append(place(("expect", index), f"{quoted(text)}: {wrong}"))
    for index, figure in enumerate(scenario.reference):
        wrong = _wrong(figure.metric, parts[figure.variant])
        if wrong is not None:
            found.append(place(("reference", index, "metric"), wrong))
    return found


def mistake_of(scenario: Scenario, variant: str, metric: str) -> str | None:
    """The mistake in a full metric name of a variant that there is; null if there is none."""
    return _wrong(metric, _parts(scenario, variant))


def _wrong(metric: str, parts: dict[str, list[str]]) -> str | None:
    """The mistake in a full metric name; null if there is none."""
    name, dot, part = metric.partition(".")
    if name not in DEFINITIONS:
        return f"there is no metric {quoted(name)}: {did_you_mean(name, DEFINITIONS)}"
    known = parts.get(name, [])
    if not dot or part in known:
        return None
    if not known:
        return f"{name} is one figure, without parts: write {name}"
    return f"{name} has no part {quoted(part)}: {did_you_mean(part, known)}"


def _parts(scenario: Scenario, variant: str) -> dict[str, list[str]]:
    """By metric: what may follow its name after a dot in this variant."""
    made = for_variant(scenario, variant)
    sent = flows(made, made.variants[variant])
    clients = dict.fromkeys(flow.client for flow in sent)
    ends = [
        (client, interface) for client in clients for interface in made.hosts[client].interfaces
    ]
    interfaces = [interface for _, interface in ends]
    both = [f"{client}.{interface}" for client, interface in ends]
    names = [flow.name for flow in sent]
    percentiles = [f"p{percent}" for percent in PERCENTILES]
    of_flows = [f"{name}.{percentile}" for name in names for percentile in percentiles]
    frames = [flow.name for flow in sent if isinstance(flow.body, Stream)]
    streams = _streams(sent)
    return {
        "goodput": ["up", "down", *interfaces, *names, *clients, *both],
        "share": [*interfaces, *both],
        "carried": [*interfaces, *both],
        "completion_s": [*percentiles, *names],
        "goodput_variation": names,
        "recovery_s": [*interfaces, *made.links],
        "latency_s": [*percentiles, *names, *of_flows],
        "rtt_s": [
            *percentiles,
            *interfaces,
            *(f"{i}.{p}" for i in interfaces for p in percentiles),
        ],
        "frames_in_time": frames,
        "frames_late": frames,
        "frames_lost": frames,
        "frame_delay_s": [
            *(percentiles if frames else []),
            *frames,
            *(f"{name}.{percentile}" for name in frames for percentile in percentiles),
        ],
        "establishment_s": [f"join{number}" for number in range(1, _MOST_JOINS + 1)],
        "stream_share": streams,
        "jain": ["streams"] if streams else [],
    }


def _streams(sent: list[Flow]) -> list[str]:
    """The numbers of streams, and these of each flow that has several."""
    counts = {
        flow.name: flow.body.streams
        for flow in sent
        if isinstance(flow.body, Bulk) and flow.body.streams > 1
    }
    own = [f"{name}.{stream}" for name, count in counts.items() for stream in _numbers(count)]
    return [*_numbers(max(counts.values(), default=0)), *own]


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]

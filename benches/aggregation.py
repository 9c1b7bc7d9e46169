"""Two fast paths on the kernel engine: MPTCP over both, beside TCP over each of them.

1 Gbit/s and 500 Mbit/s of 5 ms each, both ends on this machine. Headers take some of a link's rate,
so that no connection carries all of it: the share is of what TCP carries over one path after the
other.
"""

from __future__ import annotations

from mptcplab.engine.choice import KERNEL
from mptcplab.scenario import loads

from .effort import Effort
from .figures import Figure, figure
from .samples import Part, Samples, samples
from .shortened import shortened

_LEAST_SHARE = 0.95
_VARIANTS = ("tcp-fast", "tcp-slow", "mptcp")
_SCENARIO = """\
hosts:
  client: {interfaces: {fast: {}, slow: {}}}
  server: {interfaces: {fast: {}, slow: {}}}
links:
  fast: {between: [client.fast, server.fast], rate: 1 Gbit/s, delay: 5 ms}
  slow: {between: [client.slow, server.slow], rate: 500 Mbit/s, delay: 5 ms}
traffic:
  - bulk: {from: client, to: server, direction: down, duration: 10 s}
variants:
  tcp-fast: {protocol: tcp, via: fast}
  tcp-slow: {protocol: tcp, via: slow}
  mptcp: {protocol: mptcp}
"""


def measure(effort: Effort) -> list[Figure]:
    """Goodput of each variant in Gbit/s, and the share of both paths' that MPTCP carries."""
    scenario = shortened(loads(_SCENARIO, "aggregation.yaml"), effort.seconds)
    runs: list[Samples] = []
    for seed in range(1, effort.repeat + 1):
        runs += samples(KERNEL, [Part(scenario, _VARIANTS)], 1, seed)
    goodputs = {
        variant: [run[variant, "goodput"][0] / 1e3 for run in runs] for variant in _VARIANTS
    }
    fast, slow, both = (goodputs[variant] for variant in _VARIANTS)
    shares = [
        together / (one + other) for one, other, together in zip(fast, slow, both, strict=True)
    ]
    return [
        *(figure(variant, "Gbit/s", goodputs[variant]) for variant in _VARIANTS),
        figure("MPTCP over the sum of both", "", shares, low=_LEAST_SHARE),
    ]

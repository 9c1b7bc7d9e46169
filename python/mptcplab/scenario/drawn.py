"""Servers that are drawn among the clients: the traffic matrices of data centres.

A scenario names the draw and its seed, and its repetitions all have the same pairs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mptcplab.scenario.fields import Model


class Draw(Model):
    """A server for each client, another of the clients."""

    draw: Literal["permutation", "random"] = Field(
        description="permutation: each is the server of one other; random: any other"
    )
    seed: int = Field(1, ge=0, lt=2**64)


def servers(draw: Draw, clients: Sequence[str]) -> list[str]:
    """The server of each client, in their order, which are at least two.

    A permutation is one cycle through all clients (Sattolo, "An algorithm to generate a random
    cyclic permutation", Information Processing Letters 22, 1986), so that none is its own server.
    """
    chance = random.Random(draw.seed)
    if draw.draw == "permutation":
        drawn = list(clients)
        for last in range(len(drawn) - 1, 0, -1):
            other = int(chance.random() * last)
            drawn[last], drawn[other] = drawn[other], drawn[last]
        return drawn
    found = []
    for place in range(len(clients)):
        other = int(chance.random() * (len(clients) - 1))
        found.append(clients[other if other < place else other + 1])
    return found

"""How everything of a reproduction is run."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from platform import release

from mptcplab import _native
from mptcplab.engine.choice import EngineName

FULL = "full"


@dataclass(frozen=True)
class Manner:
    """How everything is run."""

    engine: str
    seed: int = 1
    quick: bool = False
    """Shorter, and once each."""
    repetitions: int | None = None
    """As each scenario says where null."""
    duration: str | None = None
    """Longest duration of bulk transfers, where nothing happens in mid-flow."""
    workers: int | None = None

    @property
    def options(self) -> list[str]:
        """Those of the command that the figures depend on, beside the engine."""
        options = ["--quick"] if self.quick else []
        options += [f"--repeat={self.repetitions}"] if self.repetitions else []
        options += [f"--duration={self.duration}"] if self.duration else []
        return options + ([f"--seed={self.seed}"] if self.seed != 1 else [])

    @property
    def length(self) -> str:
        """Name of the manner in the files of expected figures."""
        return shlex.join(self.options) or FULL

    def told(self) -> dict[str, object]:
        """The settings that the figures depend on."""
        extension = sha256(Path(_native.__file__).read_bytes()).hexdigest()
        return {
            "engine": self.engine,
            "seed": self.seed,
            "quick": self.quick,
            "repetitions": self.repetitions,
            "duration": self.duration,
            "extension": extension,
            "kernel": release() if self.engine == EngineName.KERNEL else None,
        }

"""Settings that an engine cannot honour, named before anything starts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mptcplab.scenario import Problem, Scenario
from mptcplab.scenario.tree import Path


@dataclass(frozen=True)
class Refusal:
    """One thing that an engine cannot do."""

    reason: str
    """A clause: `the kernel engine has the machine's clock`."""
    path: Path | None = None
    """Key of the scenario that asks for it; null where it is the machine that lacks something."""
    scenario: Scenario | None = None
    """The scenario, as the variant makes it, that has this key."""
    advice: str = ""
    """A hint other than to take the other engine."""
    variants: tuple[str, ...] = ()
    """The variants that ask for it; none where all do."""

    def problem(self, hint: str, engine: str) -> Problem:
        """The refusal as a message with the place of the key; `hint` says what to do."""
        text = f"{self.reason}: {hint}"
        if self.advice:
            text += f". {self.advice}"
        if self.scenario is None or self.path is None:
            return Problem(f"--engine {engine}", None, "", self._named(text))
        found = self.scenario.provenance.problem(self.path, text)
        if len(self.variants) == 1 and found.key.startswith(f"variants.{self.variants[0]}."):
            return found
        return replace(found, text=self._named(text))

    def _named(self, text: str) -> str:
        if not self.variants:
            return text
        word = "variant" if len(self.variants) == 1 else "variants"
        return f"{word} {', '.join(self.variants)}: {text}"

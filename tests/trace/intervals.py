"""Ranges of numbers, kept plainly: what the analysis is checked against."""

Range = tuple[int, int]


class Ranges:
    """A set of numbers, as ranges that do not touch."""

    def __init__(self) -> None:
        self.parts: list[Range] = []

    def add(self, start: int, end: int) -> list[Range]:
        """Adds `[start, end)`; gives the parts of it that were missing, in their order."""
        missing = self.missing(start, end)
        if start < end:
            apart = [part for part in self.parts if part[1] < start or part[0] > end]
            touched = [part for part in self.parts if part not in apart]
            low = min([start, *(part[0] for part in touched)])
            high = max([end, *(part[1] for part in touched)])
            self.parts = sorted([*apart, (low, high)])
        return missing

    def missing(self, start: int, end: int) -> list[Range]:
        """The parts of `[start, end)` that are not in it."""
        missing, at = [], start
        for left, right in self.parts:
            if left < end and right > at:
                if left > at:
                    missing.append((at, left))
                at = right
        return [*missing, (at, end)] if at < end else missing


def size(parts: list[Range]) -> int:
    return sum(end - start for start, end in parts)

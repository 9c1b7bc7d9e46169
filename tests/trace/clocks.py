"""The clock of the other capture: how far ahead it is, and how fast."""

from tests.trace.world import MS

AHEAD_NS = 1234 * MS + 567
DRIFT = 40e-6

"""Two captures of the same connections: packets matched, clocks brought together."""

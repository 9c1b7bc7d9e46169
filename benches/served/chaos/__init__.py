"""Agents, target and server that are killed, cut off, out of room and of time, by a seed."""

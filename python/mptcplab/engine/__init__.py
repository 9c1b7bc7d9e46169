"""Engines: what turns a scenario into a recording."""

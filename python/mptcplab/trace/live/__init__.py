"""Captures of this machine's interfaces, analysed while they are made."""

"""The broker's policy, and its start."""

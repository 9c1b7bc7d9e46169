"""Agents' plans and results over HTTPS: `mptcplab server`."""

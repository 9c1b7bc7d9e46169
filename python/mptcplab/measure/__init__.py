"""Whether MPTCP is worth it on the paths of this host, measured against a target."""

"""Functions that programs and notebooks call as `mptcplab.run` and the like."""

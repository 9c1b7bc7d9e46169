"""What programs and notebooks call by way of the package itself: `mptcplab.run` and the others."""

"""`python -m mptcplab`: the command line."""

from mptcplab.cli import main

main()

"""The state of the process that all tests count on."""

import signal

# A shell starts its jobs in the background with Ctrl-C ignored, and so would be every program that
# a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

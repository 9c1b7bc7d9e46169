"""Messages between the sim engine and its worker processes, a JSON value a line.

To a worker: a job (`plan`, `manifest`, `folder`, `seen`: rows to tell of, or null), or `STOP`. From
it, while a job lasts: `{"reached": seconds}` of virtual time, `{"watched": rows}`; after it
`{"ended": null}`, with a sentence in place of null where it failed.
"""

STOP = "stop"
"""Ends the run that goes on; what it recorded is kept. Means nothing to a worker that waits."""

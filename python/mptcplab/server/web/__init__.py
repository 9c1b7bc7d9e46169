"""The server's API over HTTP, version 1."""

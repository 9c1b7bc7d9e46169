"""Presentation of an analysis: in the terminal, as a page, as JSON, in a notebook."""

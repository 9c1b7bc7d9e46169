"""The documents' tables and figures, theirs beside ours.

A document's tables, figures and listings are data, a file each in `documents/`. They name what is
measured here (a scenario, a variant, a metric); the document's own figures are the references of
the scenarios. `needs` says which runs a choice of them takes, `running` carries those out, `beside`
compares, and `html`, `terminal` and `json` show the same `Account`.
"""

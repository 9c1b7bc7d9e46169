"""The server's database (SQLite): its schema, and the functions that change and ask it.

Each function takes a connection and does nothing but SQL: `agents`, `enrolments`, `people`,
`plans`, `results`, `figures`. Functions that change are called within a transaction: by `Writer`,
which commits several of them together, or by `changing` where a command works on the folder.
"""

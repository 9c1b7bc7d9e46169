"""The engines: what runs a variant of a scenario, and makes a recording of it.

Both are told the same plan (`compile`) and give the same rows (`docs/recording.md`). `kernel` runs
it on the real Linux stack, `sim` in virtual time on the stack of this project. What only one of
them can do is refused for the other before anything starts (`refusal`).
"""

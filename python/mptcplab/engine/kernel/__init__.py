"""The engine that runs scenarios on the real Linux stack."""

"""The engine that runs scenarios in virtual time, on the endpoint and the links of this project."""

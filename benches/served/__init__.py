"""The server of agents under load: the server as a process, agents and their results, made up."""

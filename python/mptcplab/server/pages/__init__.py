"""The dashboard: pages of agents, results and plans, for people who are signed in."""

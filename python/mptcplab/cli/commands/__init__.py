"""The options of each command. What it does is loaded when it is called."""

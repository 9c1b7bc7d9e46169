"""Tables as files: what columns they have, and how they are read."""

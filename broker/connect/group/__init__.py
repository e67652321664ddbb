"""Workers as members of a group: their messages, and the assignment of connectors and tasks. Pure."""

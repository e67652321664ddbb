"""Access control lists: effective permissions with their cause, the effects of a change, and denials."""

"""Access control: roles, rights, reach, sessions, read-only mode. Policy, no pages."""

"""Who may do what: roles, rights, how far they reach, whether a login is over, what is read-only. Policy, no pages."""

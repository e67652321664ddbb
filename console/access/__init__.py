"""Who may do what: login, roles, rights, and the one door through which a view gets an object."""

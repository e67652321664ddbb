"""Who speaks on a connection, and how that is proved. Pure: nonces are given in. Knows only messages and the base."""

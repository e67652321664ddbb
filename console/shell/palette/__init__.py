"""From anywhere to anything by its name: Ctrl-K."""

"""Vocabulary of every room: the clock, rates, figures, tables as files, secrets, locks. It knows none of the others."""

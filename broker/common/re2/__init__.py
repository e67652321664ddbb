"""Regular expressions of RE2 for names of topics: no pattern takes longer than the length of a name times its own."""

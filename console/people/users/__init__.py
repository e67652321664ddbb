"""People: coming in and going out, accounts, and how far their rights reach."""

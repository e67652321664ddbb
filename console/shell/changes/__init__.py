"""Rules that ask for a second person, or for a time, before a plan is carried out; and the changes that wait."""

"""Workers as members of a group: what they tell each other and who runs what. Pure."""

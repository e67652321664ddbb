"""Self-healing: troubles that have a remedy become proposals, carried out by a person, or in a person's name."""

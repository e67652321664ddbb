"""Single-message transforms and predicates, under Kafka's names; pure: a record comes in, a record or none goes out."""

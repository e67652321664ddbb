"""Names of ledgers in a cluster, by which they are recognized without loading Spark."""

#: How every ledger's name begins: of a group that nobody is a member of, whose only offset counts batches.
LEDGER_PREFIX = "barnabas-sink-"
#: The topic of all decisions.
DECISIONS_TOPIC = "barnabas-sinks"

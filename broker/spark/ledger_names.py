"""What ledgers are called in a cluster: for who tells them from other groups and topics, and loads no Spark for it."""

#: How every ledger's name begins: of a group that nobody is a member of, whose only offset counts batches.
LEDGER_PREFIX = "barnabas-sink-"
#: The topic of all decisions.
DECISIONS_TOPIC = "barnabas-sinks"

"""Topics that programs make for themselves: those of Kafka, Connect, registries, mirrors, streams, the probe. Pure.

Kafka calls some of its own internal, and tells so; what the others make for themselves is known by its name alone.
"""

#: As a database's regular expressions know them, too.
PLATFORM = (
    r"^_"  # Kafka's own, Confluent's, `_schemas`, the audit
    r"|^connect-(configs|offsets|status)$"
    r"|\.internal$|^heartbeats$"  # mirrors
    r"|^barnabas\.probe$"
    r"|-(changelog|repartition)$"  # Kafka Streams
)

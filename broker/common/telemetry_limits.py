"""Bounds of what clients push of their own metrics (KIP-714), each with its reason."""

#: Client instances that push metrics or ask what to push, as Kafka's cache has; each takes about 1 KB.
TELEMETRY_INSTANCES_MAX = 16_384
#: Numbers that clients pushed last, of all of them: about 500 bytes each, and a line of the broker's /metrics.
TELEMETRY_SERIES_MAX = 20_000
#: Of these numbers, what a client has in any case: a producer of Java has 110, one of librdkafka 10 for a broker.
TELEMETRY_SERIES_FLOOR = 300
#: Bytes that pushed metrics may unpack to: eight times what telemetry.max.bytes takes by default.
TELEMETRY_DECOMPRESSED_BYTES_MAX = 8 * 1024 * 1024
#: Subscriptions to client metrics: each is matched with each client whenever one changes.
METRICS_SUBSCRIPTIONS_MAX = 1_000

"""Every bound in one place, each with its reason; relations between them are checked on import."""

#: Requests a connection may have unanswered before the broker stops reading from it; Kafka clients send at most 5 by
#: default, benchmarks up to a few hundred.
IN_FLIGHT_PER_CONNECTION_MAX = 1_000

#: Open connections on one listener unless max.connections says otherwise. Each costs a descriptor and about 10 KB.
CONNECTIONS_MAX = 10_000

#: Bytes of unsent responses per connection before the broker stops reading from it: a reader that does not read must
#: not hold the broker's memory.
UNSENT_BYTES_PER_CONNECTION_MAX = 64 * 1024 * 1024

#: Fetches that may wait for data at one time; beyond it they are answered at once, empty.
DELAYED_FETCHES_MAX = 50_000

#: Fetch sessions at one time, Kafka's max.incremental.fetch.session.cache.slots.
FETCH_SESSIONS_MAX = 1_000

#: Partitions remembered by all fetch sessions together, 0.4 KB each: 40 MB at most.
FETCH_SESSION_PARTITIONS_MAX = 100_000

#: Silence after which a fetch session's place may go to another, and age from which a larger one may take it.
FETCH_SESSION_EVICTION_MS = 120_000

#: Bytes of a request that carries no record batches. Decoded, a request of many tiny structs takes thirty times its own
#: size, so what decodes to objects is bounded tighter than what stays bytes (socket.request.max.bytes).
STRUCTURED_REQUEST_BYTES_MAX = 16 * 1024 * 1024

#: Kafka's limit on the length of a topic name (file name minus the partition suffix).
TOPIC_NAME_LENGTH_MAX = 249

#: Partitions one CreateTopics request may ask for; each costs znodes, files and memory on brokers.
PARTITIONS_PER_TOPIC_MAX = 10_000

#: Topics being written to ZooKeeper at one time for clients: enough that the round trips of many topics overlap.
TOPIC_WRITES_MAX = 64

#: Idempotent producers a partition remembers; beyond it the one silent for longest is forgotten, as if expired.
PRODUCERS_PER_PARTITION_MAX = 10_000

#: Previews of retention that wait for their turn; one is made at a time, and beyond these a client is refused.
PREVIEWS_WAITING_MAX = 8

#: What one preview may take; reading a terabyte for a question would take the disk from everybody else.
PREVIEW_MS_MAX = 60_000

#: Memory for the keys of a preview of compaction, beside that of the cleaner itself.
PREVIEW_OFFSET_MAP_BYTES_MAX = 64 * 1024 * 1024

#: Segments one answer to a preview names, 0.1 KB each; counts are of all.
PREVIEW_SEGMENTS_MAX = 10_000

#: Buffers one sendmsg may carry (IOV_MAX on Linux).
SENDMSG_BUFFERS_MAX = 1_024

assert IN_FLIGHT_PER_CONNECTION_MAX <= SENDMSG_BUFFERS_MAX, "all answers of one connection fit into one sendmsg"

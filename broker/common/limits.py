"""Every bound in one place, each with its reason; relations between them are checked on import."""

#: Requests a connection may have unanswered before the broker stops reading from it; Kafka clients send at most 5 by
#: default, benchmarks up to a few hundred.
IN_FLIGHT_PER_CONNECTION_MAX = 1_000

#: Bytes of the requests a connection may have unanswered before the broker stops reading from it; one request alone may
#: be larger. A producer that has 16 MB under way keeps any disk busy.
UNANSWERED_BYTES_PER_CONNECTION_MAX = 16 * 1024 * 1024

#: Bytes of unanswered requests of all connections together, as they stand in memory: beyond it who holds the most is
#: closed. A fleet of 10,000 consumers that joins at once takes a tenth of it.
PARKED_REQUEST_BYTES_MAX = 512 * 1024 * 1024

#: How many times its bytes on the wire a request may take in memory: one of many tiny structs.
DECODED_FACTOR = 30

#: Age from which a connection that never sent a whole request makes room for another when places are short; clients
#: send their first request at once.
SILENT_CONNECTION_S = 10.0

#: Open connections of a broker unless max.connections says otherwise. Each costs a descriptor and about 10 KB.
CONNECTIONS_MAX = 10_000

#: New connections per second when nothing is said of them, Kafka's value for no limit.
UNLIMITED_RATE = 2**31 - 1

#: Longest pause between two looks whether a new connection may come (max.connection.creation.rate): Kafka's window.
CREATION_PAUSE_S_MAX = 1.0

#: Connections looked at to find one that asked nothing of late, when a member of the cluster needs its place.
IDLE_LOOKS_MAX = 100

#: Bytes of unsent responses per connection before the broker stops reading from it and handles no more of what it has
#: read. A reader that does not read must not hold the broker's memory, and what one packet asks for must not keep the
#: loop busy for a second while others wait. Larger is no faster: the kernel's buffer keeps a reader supplied.
UNSENT_BYTES_PER_CONNECTION_MAX = 256 * 1024

#: How long a connection whose peer broke the protocol stays for the answers to what was asked before.
LAST_ANSWERS_S = 2.0

#: Bytes of half-received large requests of all connections together; queued.max.request.bytes sets another limit. Two
#: of the largest requests fit, or the 1 MB requests of 256 producers that arrive at once; whoever comes later waits.
HELD_REQUEST_BYTES_MAX = 256 * 1024 * 1024

#: Bytes of answers in memory that clients have not taken, of all connections together: above half of it each connection
#: gets one answer at a time, above all of it who holds the most is closed.
HELD_ANSWER_BYTES_MAX = 256 * 1024 * 1024

#: Bytes of records one answer to a fetch holds in memory; beyond it pieces of 4 KB and more are sent from their files.
ANSWER_BYTES_IN_MEMORY_MAX = 2 * 1024 * 1024

#: What a connection may hold uncounted, of answers or of a request: 10,000 connections hold 80 MB so.
UNCOUNTED_BYTES_MAX = 4 * 1024

#: While others wait for memory: how long a peer may pause in the middle of a large request …
STALLED_FRAME_S_MAX = 2.0
#: … and how long it may take for all of it. The largest request needs 3.5 MB/s then.
FRAME_UNDER_PRESSURE_S_MAX = 30.0

#: Share of the process's file descriptors that connections may take: the files of the logs must never be those that
#: cannot be opened.
CONNECTIONS_DESCRIPTOR_SHARE = 0.5

#: Seconds between two log lines about refused connections; a flood must not become a flood of lines.
REFUSALS_LOGGED_EVERY_S = 10.0

#: Fetches that may wait for data at one time; beyond it they are answered at once, empty.
DELAYED_FETCHES_MAX = 50_000

#: Partitions all fetches that wait look at together, 0.6 KB each with what is to be answered of them.
DELAYED_FETCH_PARTITIONS_MAX = 250_000

#: Fetches that go on in one pass of the loop when more wait for the same: some 50 µs each.
WAKES_AT_ONCE_MAX = 64

#: How long a fetch may wait for data; clients ask for half a second. Kafka has no such bound, but as a fetch may be
#: answered early at any time, nobody is told anything untrue by it.
FETCH_WAIT_MS_MAX = 300_000

#: Fetch sessions at one time, Kafka's max.incremental.fetch.session.cache.slots.
FETCH_SESSIONS_MAX = 1_000

#: Partitions remembered by all fetch sessions together, 0.4 KB each: 40 MB at most.
FETCH_SESSION_PARTITIONS_MAX = 100_000

#: Silence after which a fetch session's place may go to another, and age from which a larger one may take it.
FETCH_SESSION_EVICTION_MS = 120_000

#: Bytes of a request that carries no record batches, unless its API declares more. Decoded, a request of many tiny
#: structs takes thirty times its own size, so what decodes to objects is bounded tighter than what stays bytes
#: (socket.request.max.bytes).
REQUEST_BYTES_MAX = 1024 * 1024

#: Elements all arrays of such a request may have together, counted before they are read. Decoded, each takes half a
#: kilobyte and half a microsecond: 10 ms. That, what is done about each, 10 to 50 microseconds, and its part of the
#: answer, one or two, are done in turns.
REQUEST_ENTRIES_MAX = 20_000

#: Bytes of a request that is handled as soon as it is read: a millisecond or two, whatever it names. One that is larger
#: queues until others have had their turn, batches of records apart.
BYTES_AT_ONCE_MAX = 4 * 1024

#: Bytes of a request that is decoded in one go: an element takes two at least, so some 5 ms.
BYTES_DECODED_AT_ONCE_MAX = 16 * 1024

#: Elements of a longer one that are decoded before it is asked whether others are to have their turn: half a
#: millisecond at most.
ENTRIES_DECODED_IN_A_TURN = 500

#: Strangers' long requests that are decoded at a time, others wait: half decoded, each takes what it takes decoded, and
#: is not yet counted.
LONG_REQUESTS_DECODED_MAX = 4

#: Of many things that one request asks for, as many are done before others have their turn: a few milliseconds. Fewer
#: if they take longer than a slice (`net/turns.py`).
THINGS_IN_A_TURN = 100

#: Elements of a long answer's arrays that are encoded, and perhaps made, before others have their turn: one takes some
#: two microseconds, with what it is made of up to ten.
ENTRIES_ENCODED_IN_A_TURN = 500

#: Long answers that are encoded at a time, others wait: what there is of them counts as unsent only when it is whole,
#: and a description of 20,000 topics has 100 MB.
LONG_ANSWERS_ENCODED_MAX = 4

#: What a request may bring in which a client may name every partition it works with: 20,000 of them with names of 50
#: letters and metadata, and nobody is known to have more in one client.
PARTITIONS_REQUEST_BYTES_MAX = 4 * 1024 * 1024
PARTITIONS_REQUEST_ENTRIES_MAX = 50_000

#: What one broker may ask of another: a controller tells a broker of all partitions in one request, and of each
#: partition its replicas.
PEER_REQUEST_BYTES_MAX = 16 * 1024 * 1024
PEER_REQUEST_ENTRIES_MAX = 2_000_000

#: Bytes of a request that is decoded only to refuse each thing it names; who sends more is not answered.
REFUSED_REQUEST_BYTES_MAX = 64 * 1024

#: Connections of all listeners that have not logged in. Beyond it the oldest is closed of whoever has the most of them:
#: a hundred logins a second that each take all their time find room, and the descriptors are for others.
UNADMITTED_CONNECTIONS_MAX = 1_000

#: Bytes of half-received large requests of all that have not logged in; whoever comes later waits (CVE-2022-34917).
UNADMITTED_REQUEST_BYTES_MAX = 16 * 1024 * 1024

#: Topics and partitions one Produce request may name, whose batches stay bytes: an entry that has none takes six bytes,
#: and half a kilobyte when it is decoded. A broker is to lead 4,000 partitions at most (Kafka's own advice), and one
#: client hardly writes to all of them at a time; those of a transaction are appended in one go, some 15 µs each.
PRODUCE_ENTRIES_MAX = 5_000

#: Tagged fields (KIP-482) of one section; Kafka's messages declare at most five. A section of tags without a value
#: takes two bytes each and half a microsecond, in the header of a 100 MB Produce too. One byte tells so many.
TAGGED_FIELDS_MAX = 127

#: What one record batch may unpack to where its records are looked at (compaction, coordinators, times): 64 times the
#: largest batch a topic takes by default. A few hundred bytes of zstd can stand for gigabytes.
DECOMPRESSED_BYTES_MAX = 64 * 1024 * 1024

#: The same for all batches together that a client just sent to compacted topics in one request: each is unpacked on
#: the loop in one piece, one to two ms a MB.
PRODUCED_DECOMPRESSED_BYTES_MAX = 16 * 1024 * 1024

#: Bytes of Produce requests that wait until their batches are packed as compression.type says; beyond it producers are
#: told to try again. 64 of the largest batches, or one second of the fastest codec on two cores.
REPACKING_BYTES_MAX = 64 * 1024 * 1024

#: Records of such a batch, not compressed, that are looked at as it is appended: 4 ms. More take turns with others.
RECORDS_LOOKED_AT_AT_ONCE_MAX = 1_000

#: Partitions in one page of DescribeTopicPartitions, Kafka's max.request.partition.size.limit: 20 ms of encoding.
DESCRIBED_PARTITIONS_MAX = 2_000

#: How long a broker has to have been the only one before it makes the topics of coordinators with one replica: brokers
#: that are started together meet within seconds, and what was made alone stays so.
LONE_BROKER_MS = 10_000

#: Records of one batch that an answer names as being at fault, 0.1 KB each; the producer takes the others for
#: neighbours of bad ones. Kafka names all.
RECORD_ERRORS_MAX = 1_000

#: What a batch may unpack to that is looked at only to name records whose time is refused: a few milliseconds. Of a
#: larger one none is named.
NAMED_RECORDS_BYTES_MAX = 1024 * 1024

#: Records of a batch that are looked at one by one, each about two microseconds and 300 bytes; clients put 10,000 into
#: one (librdkafka's default) or fewer.
RECORDS_PER_BATCH_MAX = 100_000

#: Headers of all records of one batch: two bytes of it can be a header, which takes 80 bytes in memory, 200 with a name
#: and a value. 10,000 records, librdkafka's most, may have 50 each.
HEADERS_PER_BATCH_MAX = 500_000

#: A broker whose loop stands still for a ZooKeeper session ends itself, but not before this: disks that work may keep
#: one fsync for seconds.
LOOP_STALL_MS_MIN = 10_000
#: A controller's decision about so many partitions is made on the loop: 5 ms. About more it is made on a thread, which
#: takes the interpreter from the loop for moments only.
PARTITIONS_DECIDED_ON_THE_LOOP = 250

#: Kafka's limit on the length of a topic name (file name minus the partition suffix).
TOPIC_NAME_LENGTH_MAX = 249

#: Letters of one text in a log line: longer than any name that people give, or reason the broker has.
LOGGED_TEXT_LENGTH_MAX = 512

#: Brokers a controller may name as alive, and listeners of each: clients are told all of them.
BROKERS_MAX = 1_000
LISTENERS_MAX = 100

#: Topics one CreateTopics request may name: each is answered with its thirty configurations.
TOPICS_PER_REQUEST_MAX = 1_000

#: Partitions one CreateTopics request may ask for; each costs znodes, files and memory on brokers.
PARTITIONS_PER_TOPIC_MAX = 10_000

#: Topics being written to ZooKeeper at one time for clients: enough that the round trips of many topics overlap.
TOPIC_WRITES_MAX = 64

#: Idempotent producers a partition remembers; beyond it the one silent for longest is forgotten, as if expired.
PRODUCERS_PER_PARTITION_MAX = 10_000

#: Bytes of Produce requests that wait until a coordinator has verified their transaction; beyond it producers are told
#: to try again. 64 of the largest batches, or 64 seconds of a paused coordinator at 1 MB/s.
VERIFYING_BYTES_MAX = 64 * 1024 * 1024
#: What of it each takes besides its batches, and each batch besides its bytes: as measured, 13,000 small ones may wait.
VERIFYING_REQUEST_BYTES, VERIFYING_BATCH_BYTES = 4 * 1024, 1024

#: Bytes that members of groups take on one broker, with what is recorded of them: some 20,000 busy groups. A join is
#: measured by it alone, whatever offsets are stored.
GROUP_MEMBERS_BYTES_MAX = 96 * 1024 * 1024

#: Bytes that offsets committed by members of groups take on one broker, 0.3 KB each with short names.
GROUP_OFFSETS_BYTES_MAX = 96 * 1024 * 1024

#: Bytes that offsets of groups without members take on one broker, with 2 KB for each group: commits of simple
#: consumers, of tools, and of mirrors that translate offsets.
SIMPLE_OFFSETS_BYTES_MAX = 96 * 1024 * 1024

#: Bytes of each of these three that a client gets from the reserve (`shared_budget.py`): a group of three members, or
#: offsets of forty partitions. The reserve of 24 MB is enough for 1,500 such clients, whatever the others hold.
GROUP_NEWCOMER_BYTES = 16 * 1024

#: Metadata of one member, all its protocols together: the consumer offers two by default, each naming its topics and
#: what it owns: 5,000 topics of 45 letters. A group's record, with all members, has to fit into a batch of 1 MB anyway.
MEMBER_METADATA_BYTES_MAX = 512 * 1024

#: Letters of the names clients give to groups, instances and protocols. Kafka takes 32,767; people use fewer than 100.
GROUP_NAME_LENGTH_MAX = 1_024

#: Letters of a client id that are kept.
CLIENT_ID_LENGTH_MAX = 255

#: How long a rebalance waits for a member that is known to be alive: it may be busy with a batch for hours. Kafka's
#: Streams asked for 24 days by default once; a whole group would wait as long.
REBALANCE_TIMEOUT_MS_MAX = 86_400_000

#: Transactional ids of all coordinators of one broker, up to 1 KB each: 300 MB. A long one counts for several. Clients
#: that make one up for each run would fill the memory within the week it takes to forget one.
TRANSACTIONAL_IDS_MAX = 300_000
#: Of these a client gets from the reserve: a Connect worker's tasks, or a Streams application's threads.
TRANSACTIONAL_NEWCOMER_IDS = 50

#: Partitions that open transactions cover, of all coordinators of one broker, 0.15 to 0.3 KB each: 150 MB. Beyond it
#: producers are told to try again: transactions end, or time out. Leaders ask coordinators before they let one open
#: (KIP-890), so what is open in logs is bounded by it, too.
TRANSACTION_PARTITIONS_MAX = 500_000
#: Of these a client gets from the reserve, for transactions that are open at one time.
TRANSACTION_NEWCOMER_PARTITIONS = 100

#: Previews of retention that wait for their turn; one is made at a time, and beyond these a client is refused.
PREVIEWS_WAITING_MAX = 8

#: Of a topic's partitions whose headers at most are read: then others have the thread, and each visit wakes two.
PREVIEWS_IN_A_TURN = 50

#: What one preview may take; reading a terabyte for a question would take the disk from everybody else.
PREVIEW_MS_MAX = 60_000

#: Memory for the keys of a preview of compaction, beside that of the cleaner itself.
PREVIEW_OFFSET_MAP_BYTES_MAX = 64 * 1024 * 1024

#: Segments one answer to a preview names, 0.1 KB each; counts are of all.
PREVIEW_SEGMENTS_MAX = 10_000

#: A muted connection is not read, so its end is looked for so often.
MUTED_LOOK_S = 5.0

#: Threads of a log directory for file work the loop does not wait for. Disks and file systems take a few fsyncs at a
#: time; more threads only get into each other's way, and into the loop's, while they hold the interpreter.
DISK_THREADS_PER_DIRECTORY = 4

#: Partitions whose roles, cuts or deletions one callback deals with, some 0.1 ms each: others have their turn between.
PARTITIONS_PER_CALLBACK = 20

#: Partitions one fetch of a follower names, and one answer to it tells of, some 20 microseconds each on either side:
#: who comes back and follows tens of thousands asks for them in as many requests as it takes.
PARTITIONS_PER_FETCH = 500

#: Partitions of one question to the controller (elections, moves), which steps through all of them in one go: some
#: 20 microseconds each.
PARTITIONS_ASKED_AT_ONCE = 1_000

#: Sealed segments of all logs that stay open for who reads them: a descriptor each …
OPEN_SEALED_SEGMENTS_MAX = 1_000
#: … and the bytes of their indexes in memory: 32 segments of 1 GB. One more is decoded again when it is read, 1 ms.
OPEN_SEALED_INDEX_BYTES_MAX = 64 * 1024 * 1024

#: How long a role waits for the partition's log, which is still being cut, before it is refused as on a disk that
#: fails: 1,000 logs of a disk that takes 30 ms for an fsync.
CUT_WAIT_S_MAX = 30.0

#: Bytes of a request that a ZooKeeper server of ours reads (jute.maxbuffer), and so of a znode: a topic of 10,000
#: partitions with three replicas takes 220 KB while broker ids have three digits. Of one that large, 500 partitions
#: can be on the move at a time. Not Kafka's megabyte, because of the next bound.
ZOOKEEPER_REQUEST_BYTES_MAX = 256 * 1024

#: Requests that write, refused ones too, which a ZooKeeper server remembers for its followers (commitLogCount; it takes
#: no fewer), each with its bytes and what was decoded of them. Anybody who can connect fills it.
ZOOKEEPER_REQUESTS_REMEMBERED = 500

#: Bytes of large requests that a ZooKeeper server of ours works on at a time; what is beyond is cut off unread.
ZOOKEEPER_LARGE_REQUEST_BYTES_MAX = 16 * 1024 * 1024

#: Znodes below /brokers: five for a topic of one partition, two for each further one.
ZOOKEEPER_BROKERS_ZNODES_MAX = 120_000
ZOOKEEPER_BROKERS_BYTES_MAX = 24 * 1024 * 1024

#: The same below /config: one for each topic, broker and user that has a configuration, and the notices of changes.
ZOOKEEPER_CONFIG_ZNODES_MAX = 40_000
ZOOKEEPER_CONFIG_BYTES_MAX = 12 * 1024 * 1024

#: The same below /delegation_token: a token each, and for 15 minutes a notice of each change of one.
ZOOKEEPER_TOKENS_ZNODES_MAX = 30_000
ZOOKEEPER_TOKENS_BYTES_MAX = 12 * 1024 * 1024

#: What a znode takes on the heap besides its data: 0.4 KB, 0.7 KB under the longest name of a topic (measured).
ZOOKEEPER_ZNODE_BYTES = 700

#: Share of a quota up to which brokers make topics and configurations. The rest is for what must never be refused:
#: states that grow when a leader is elected, replicas of partitions on the move, notices.
ZOOKEEPER_QUOTA_ADMITTED_SHARE = 0.8

#: The heap of a ZooKeeper server of ours; 20 MB are its own. It takes what it needs: 80 MB with little in it.
ZOOKEEPER_HEAP_BYTES_MAX = 512 * 1024 * 1024

#: A line that kafka-console-producer is given: no broker can be told to take a larger record (librdkafka's
#: message.max.bytes), and a stream without line ends must not fill the memory.
INPUT_LINE_BYTES_MAX = 1_000_000_000

#: Buffers one sendmsg may carry (IOV_MAX on Linux).
SENDMSG_BUFFERS_MAX = 1_024

assert IN_FLIGHT_PER_CONNECTION_MAX <= SENDMSG_BUFFERS_MAX, "all answers of one connection fit into one sendmsg"
assert UNCOUNTED_BYTES_MAX * CONNECTIONS_MAX * 2 <= HELD_ANSWER_BYTES_MAX, "what is not counted is the smaller part"
assert (
    2 * ZOOKEEPER_REQUESTS_REMEMBERED * ZOOKEEPER_REQUEST_BYTES_MAX
    + 2 * ZOOKEEPER_LARGE_REQUEST_BYTES_MAX
    + ZOOKEEPER_ZNODE_BYTES * (ZOOKEEPER_BROKERS_ZNODES_MAX + ZOOKEEPER_CONFIG_ZNODES_MAX + ZOOKEEPER_TOKENS_ZNODES_MAX)
    + ZOOKEEPER_BROKERS_BYTES_MAX
    + ZOOKEEPER_CONFIG_BYTES_MAX
    + ZOOKEEPER_TOKENS_BYTES_MAX
    + 20 * 1024 * 1024
    < ZOOKEEPER_HEAP_BYTES_MAX
), "a ZooKeeper that is full still has room for what it works on"

#: How often the same denial is told in the log …
DENIALS_LOGGED_EVERY_MS = 10_000
#: … and how many different ones in that time: 1,000 clients, each with its first failure. All are counted.
DENIALS_LOGGED_MAX = 1_000
#: Principals whose denials are counted one by one: each is a time series. The rest is counted together.
DENIED_PRINCIPALS_COUNTED_MAX = 100
#: Size at which a log of its own (authorizer.log) begins anew; so much again stays of what was before.
OWN_LOG_BYTES_MAX = 100 * 1024 * 1024

#: Directories remembered for partitions that have no log yet (AlterReplicaLogDirs). Anybody may name partitions that
#: never come; a reassignment tool names those of one move.
PREFERRED_LOG_DIRS_MAX = 10_000

#: What of a log is copied to another directory in one turn: what a follower fetches of a partition at once, too.
LOG_COPY_BYTES = 1024 * 1024

#: The rest of a log that is copied on the loop, where nothing can be appended meanwhile, before the copy takes its
#: place: some tens of microseconds, out of the page cache into it.
LOG_COPY_REST_BYTES_MAX = 64 * 1024

#: How deeply a schema of the registry may be nested. Parsers recurse, and so does whoever reads such data.
REGISTRY_SCHEMA_DEPTH_MAX = 100
#: The text of a schema: a record of `_schemas` must carry it (max.message.bytes is 1 MB), with what is told about it.
REGISTRY_SCHEMA_BYTES_MAX = 900_000
#: The body of a request of the registry: a schema whose quotes are escaped, its metadata and rules.
REGISTRY_BODY_BYTES_MAX = 2 * 1024 * 1024
#: What a schema may refer to, directly and through what it refers to: all of it is compiled with each look.
REGISTRY_REFERENCES_MAX = 300
#: Versions that the registry holds, of all subjects: some 3 KB each in memory with small schemas (measured).
REGISTRY_VERSIONS_MAX = 500_000
#: Requests of the registry that change something and wait for their turn; each has its body in memory.
REGISTRY_WRITES_WAITING_MAX = 100
#: Parsed schemas that are kept for the next comparison.
REGISTRY_PARSED_MAX = 1_000
#: Steps of comparing two schemas, or of checking defaults: pairs of types, fields, branches, symbols, up to 10
#: microseconds each. One schema has at most 60,000 of them.
REGISTRY_COMPARISON_STEPS_MAX = 200_000
#: Text of what two schemas differ in (900 KB of new fields: 5 MB); of an Avro schema's full names, of paths of tags.
REGISTRY_MESSAGES_BYTES_MAX = 16 * 1024 * 1024
#: Copies of log ends that a start found damaged and cut off, for each partition; then the oldest is removed.
DAMAGED_TAILS_MAX = 16
#: Of a processor, for one pattern and one name of a topic, a group, a setting; what is meant well takes microseconds.
PATTERN_SECONDS_MAX = 0.25
#: Names whose answer is kept, of a pattern that may take long.
PATTERN_ANSWERS_MAX = 10_000
#: For all patterns of a comparison of JSON schemas; those that are meant well take microseconds.
REGISTRY_PATTERN_SECONDS_MAX = 2.0
#: Compiled Protobuf schemas that are kept for the next comparison; some 10 KB each, and 5 ms to make again.
REGISTRY_COMPILED_MAX = 1_000

#: Connections of a REST listener (Connect worker, schema registry), and of one address: serializers keep a few each,
#: and a proxy in front of it stands for many.
REST_CONNECTIONS_MAX = 1_000
REST_CONNECTIONS_PER_ADDRESS_MAX = 500

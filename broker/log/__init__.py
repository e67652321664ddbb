"""Partitions on disk, in Kafka's file formats: log directories, logs, segments, indexes, recovery.

May import `broker.common`, `broker.records` and the standard library's files; neither the protocol nor the network nor
asyncio. Everything here blocks. Appends and reads of what the page cache holds are quick enough for the event loop;
opening, recovering, timestamp look-ups in old segments, purging and shutting down are for a worker thread. A `Log` is
not thread-safe: one owner at a time; what may run on a thread beside it says so.

Durability is Kafka's: a record is safe against the death of the process as soon as `append` returns, because it is in
the page cache; against the death of the machine it is safe by replication. Unless flush.messages asks for it nothing is
fsynced per append; `LogManager.flush_due` does that beside. Checkpoints and metadata files are fsynced.
"""

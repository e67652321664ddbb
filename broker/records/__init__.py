"""Kafka's record batch format, version 2, as pure functions over bytes.

May import `broker.common`, crc32c, cramjam and the formats of the standard library; no file, socket, clock or thread.
The broker's hot path only ever uses `batch`: it reads 61 bytes and a CRC, and never looks at a record. `record`,
`builder` and `compression` serve whoever must look inside: coordinators, timestamp look-ups, tests.
"""

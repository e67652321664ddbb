"""Coordinators: pure machines that own one partition of an internal topic each.

A coordinator reads its state, proposes records and answers; `replay` is the only writer of what must survive. The
runtime appends the records, replays them and sends the answers once they are committed, so that start-up, normal work
and fail-over are one path. `group/` coordinates consumer groups; the transaction coordinator is its future neighbour.

May import `broker.common` and `broker.protocol` messages, and neither clocks, sockets, files, threads nor randomness:
the time is an argument and new member ids come from a function passed in.
"""

"""The broker's part of the message audit: it counts what it appends and what groups commit, and tells the audit topic.

Counting (`append_count`, `log_walk`, `group_steps`) is pure; `append_audit` knows the partitions led here, `auditor`
goes round. What it knows of increments are the formats of `broker/audit`, which import nothing of a client.
"""

"""The consumer group protocol of KIP-848: members have epochs, the coordinator assigns partitions.

`groups.py` is the door for `coordinator/group/coordinator.py`, whose contract with the runtime holds here, too.
`heartbeat.py` decides what a heartbeat changes, `reconciliation.py` how a member comes from what it owns to what it is
to own, `assignors.py` who is to own what; `group.py` is the state, `records.py` the log's format.
"""

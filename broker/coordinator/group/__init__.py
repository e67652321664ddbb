"""The classic consumer group protocol (JoinGroup, SyncGroup, Heartbeat, LeaveGroup) and committed offsets.

`coordinator.py` is the door and states the contract with the runtime; `states.py` says what a group answers when;
`joining`, `rebalance`, `membership`, `offsets` and `administration` are the rules; `records.py` is the log's format.
"""

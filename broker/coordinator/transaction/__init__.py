"""The transactions of producers: who may write under a transactional id, and how what was written is decided.

`coordinator.py` is the door and follows the contract of `group/coordinator.py`; `states.py` and `transaction.py` say
what may follow what, `initialising.py` who gets which epoch; `records.py` is the log's format. Transactions whose epoch
is raised with each one (KIP-890, part 2) will be further transitions of `transaction.py` and value 1 of `records.py`.
"""

"""The only room that speaks to ZooKeeper: how a server is launched, the one client, and what the znodes mean.

Imports common and kazoo; kazoo's threads end in `session.py`.
"""

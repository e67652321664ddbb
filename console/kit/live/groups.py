"""The names of channel groups that several features use: what a page subscribes to and what is pushed to.

A group that one feature alone uses is named in its `feature.py` (`LIVE_GROUP`). Names are those of one cluster; the
channel layer is shared by all of them, so there each is known by its cluster too.
"""

import hashlib

from console.kit.common.current_cluster import current_cluster, is_main

#: The age of the data and whether the collector lives: every page listens.
HEARTBEAT = "heartbeat"
#: The counts in the sidebar are others now: every page listens, and asks for its own person's.
MARKS = "marks"
CLUSTER_OVERVIEW = "cluster.overview"
BROKERS = "brokers"
PLACEMENT = "placement"
ZOOKEEPER = "zookeeper"
#: Every page with charts, told that there are new points.
CHARTS = "charts"
#: Which rows are others now: each web process listens once, for all its pages.
CHANGES = "changes"
STREAMS = "streams"
#: Every page of who may decide about changes, told that another waits or does no more.
WAITING_CHANGES = "changes.waiting"
#: The page of all clusters, told that one of them reads otherwise.
FLEET = "fleet"
_OF_PERSON = "person."


def on_layer(group: str) -> str:
    """Return the channel layer's name of the current cluster's `group`; those of people and all clusters are the same
    in each.
    """
    return group if is_main() or group == FLEET or group.startswith(_OF_PERSON) else f"c.{current_cluster()}.{group}"


def topic(name: str) -> str:
    """Return the group of one topic's page: a digest, because a group name is limited to 100 characters, a topic name
    to 249.
    """
    return f"topic.{hashlib.sha256(name.encode()).hexdigest()[:40]}"


def person(user_id: int) -> str:
    """Return the group of one person's sockets, for changed rights or logins."""
    return f"{_OF_PERSON}{user_id}"


def processes(can_operate: bool) -> str:
    """Return the group of the processes page, one with buttons and one without: pushed rows differ by right."""
    return "processes.operate" if can_operate else "processes.view"


def staged_moves(can_operate: bool) -> str:
    """Return the group of staged moves, one with buttons for users who may pause them."""
    return "placement.operate" if can_operate else "placement.view"

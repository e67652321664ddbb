"""Announce the rows that changed after a look at the groups: of groups and of the topics they read."""

from collections.abc import Iterable

from console.kit.live.changes import ChangeSender
from console.state.clusters.models import Topic
from console.state.consumers.rows import GroupRowChanges


class GroupAnnouncer:
    """Not thread-safe: one thread uses it."""

    def __init__(self) -> None:
        self._changes = ChangeSender("groups")

    def groups_changed(self, changes: GroupRowChanges, keys: Iterable[int]) -> None:
        """Push after each look, also one without changes. `keys`: the primary keys of groups created or changed."""
        pages = ["consumers", "consumer-pages"] if changes.is_list_changed else []
        is_heard = self._changes.is_heard()
        self._changes.send(_rows(changes, keys) if is_heard else {}, pages, is_heard=is_heard)


def _rows(changes: GroupRowChanges, keys: Iterable[int]) -> dict[str, Iterable[int]]:
    topics = {place.topic for _, places in changes.changed for place in places}
    topics.update(place.topic for row in (*changes.created, *changes.reshaped) for place in row.partitions)
    read = Topic.objects.only("name").in_bulk(topics, field_name="name").values() if topics else ()
    topic_keys = [topic.pk for topic in read]
    return {"group-row": keys, "group-page": keys, "topic-row": topic_keys, "topic-head": topic_keys}

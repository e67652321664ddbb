"""What a controller takes from the metadata cache of its broker."""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from uuid import UUID


class CachedMetadata(NamedTuple):
    #: By topic name.
    topic_ids: Callable[[], Mapping[str, UUID]] = dict
    #: Of the last controller that this broker has heard from, -1 before the first.
    controller_epoch: Callable[[], int] = lambda: -1

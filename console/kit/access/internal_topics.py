"""Which topics of a cluster are internal: by convention, by `settings.INTERNAL_TOPICS`, and by the configurations of
its services, as far as they are known here.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from time import monotonic
from typing import NamedTuple

from django.conf import settings
from django.db import DatabaseError
from django.utils.connection import ConnectionDoesNotExist

from console.kit.access.internal_names import CONVENTIONS, InternalTopics
from console.kit.common.current_cluster import all_clusters, current_cluster, in_cluster
from console.kit.common.hook_point import HookPoint


class InternalTopicSource(NamedTuple):
    """Where a topic's name is configured: `config.storage.topic of process` and `worker`, a name for rules.

    `is_lasting`: the topic stays internal when the configuration is gone.
    """

    where: str
    source: str
    is_lasting: bool = True


#: The names that a feature knows by configurations of the current cluster.
NAMED_BY = HookPoint[Callable[[], Mapping[str, InternalTopicSource]]]("console.kit.access.internal_topics.NAMED_BY")
#: Names that count in the current cluster alone: those of topics whose service is gone.
REMEMBERED = HookPoint[Callable[[], frozenset[str]]]("console.kit.access.internal_topics.REMEMBERED")
#: Configurations are read again after so long.
_KEPT_SECONDS = 5.0


class _Names(NamedTuple):
    """What the configurations of one cluster name, as read at this moment of the monotonic clock."""

    read_at: float
    configured: Mapping[str, InternalTopicSource]
    remembered: frozenset[str]


_kept: dict[str, _Names] = {}


def internal_topics() -> InternalTopics:
    """Return the internal topics of any cluster; names of configurations are at most 5 s old.

    A name that a service of one cluster has counts in all: a mirror may copy the topic under the same name.
    """
    return _by_patterns(tuple(settings.INTERNAL_TOPICS))


def is_internal(name: str) -> bool:
    return name in internal_topics()


def forget() -> None:
    """Forget the known internal topics, so that configurations are read again."""
    _kept.clear()


@lru_cache(256)
def _by_patterns(patterns: tuple[str, ...]) -> InternalTopics:
    added = tuple(pattern for pattern in patterns if not pattern.startswith("!"))
    exceptions = tuple(pattern[1:] for pattern in patterns if pattern.startswith("!"))
    return InternalTopics(_all_names, (*CONVENTIONS, *added), exceptions)


def configured_names() -> dict[str, InternalTopicSource]:
    """Return the names that services of any cluster have in their configurations, and where."""
    return {name: naming for cluster in all_clusters() for name, naming in _names_in(cluster).configured.items()}


def _all_names() -> frozenset[str]:
    return _names_in(current_cluster()).remembered.union(*(_names_in(cluster).configured for cluster in all_clusters()))


def _names_in(cluster: str) -> _Names:
    """Return those last read, while the database of a cluster that is not the current one cannot be read."""
    names = _kept.get(cluster)
    if names is None or monotonic() - names.read_at >= _KEPT_SECONDS:
        names = _kept[cluster] = _read(cluster, names or _Names(0.0, {}, frozenset()))
    return names


def _read(cluster: str, before: _Names) -> _Names:
    try:
        with in_cluster(cluster):
            named = [names() for names in NAMED_BY]
            remembered = frozenset().union(*(names() for names in REMEMBERED))
    except (DatabaseError, ConnectionDoesNotExist):
        if cluster == current_cluster():
            raise
        return before._replace(read_at=monotonic())
    configured = {name: naming for names in named for name, naming in names.items() if name}
    return _Names(monotonic(), configured, remembered)

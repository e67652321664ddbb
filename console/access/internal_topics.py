"""Which topics of a cluster are internal: by convention, by `settings.INTERNAL_TOPICS`, and by the configurations of
its services, as far as they are known here.
"""

from collections.abc import Callable, Collection
from functools import lru_cache
from time import monotonic

from django.conf import settings
from django.db import DatabaseError
from django.utils.connection import ConnectionDoesNotExist

from console.access.internal_names import CONVENTIONS, InternalTopics
from console.common.current_cluster import all_clusters, current_cluster, in_cluster

#: Features that know names by configurations; each is asked of the current cluster.
NAMED_BY: dict[str, Callable[[], Collection[str]]] = {}
#: Configurations are read again after so long.
_KEPT_SECONDS = 5.0
_kept: dict[str, tuple[float, frozenset[str]]] = {}


def internal_topics() -> InternalTopics:
    """Return the internal topics of any cluster; names of configurations are at most 5 s old.

    A name that a service of one cluster has counts in all: a mirror may copy the topic under the same name.
    """
    return _by_patterns(tuple(settings.INTERNAL_TOPICS))


def is_internal(name: str) -> bool:
    return name in internal_topics()


def forget() -> None:
    """Have configurations read again."""
    _kept.clear()


@lru_cache(256)
def _by_patterns(patterns: tuple[str, ...]) -> InternalTopics:
    added = tuple(each for each in patterns if not each.startswith("!"))
    exceptions = tuple(each[1:] for each in patterns if each.startswith("!"))
    return InternalTopics(_configured_names, (*CONVENTIONS, *added), exceptions)


def _configured_names() -> frozenset[str]:
    return frozenset().union(*map(_names_in, all_clusters()))


def _names_in(cluster: str) -> frozenset[str]:
    """Those last read, while the database of a cluster that is not the current one cannot be read."""
    read_at, names = _kept.get(cluster, (0.0, None))
    if names is None or monotonic() - read_at >= _KEPT_SECONDS:
        try:
            with in_cluster(cluster):
                names = frozenset(name for names_of in NAMED_BY.values() for name in names_of() if name)
        except (DatabaseError, ConnectionDoesNotExist):
            if cluster == current_cluster():
                raise
        _kept[cluster] = monotonic(), names or frozenset()
    return names or frozenset()

"""Which topics of a cluster are internal: by convention, by `settings.INTERNAL_TOPICS`, and by the configurations of
its services, as far as they are known here.
"""

from collections.abc import Callable, Collection
from functools import lru_cache, partial
from time import monotonic

from django.conf import settings

from console.access.internal_names import CONVENTIONS, InternalTopics
from console.common.current_cluster import current_cluster, in_cluster

#: Features that know names by configurations; each is asked of the current cluster.
NAMED_BY: dict[str, Callable[[], Collection[str]]] = {}
#: Configurations are read again after so long.
_KEPT_SECONDS = 5.0
_kept: dict[str, tuple[float, frozenset[str]]] = {}


def internal_topics(cluster: str = "") -> InternalTopics:
    """Return those of `cluster`, of the current one without a name; names of configurations are at most 5 s old."""
    return _of_cluster(cluster or current_cluster(), tuple(settings.INTERNAL_TOPICS))


def is_internal(name: str) -> bool:
    return name in internal_topics()


def forget() -> None:
    """Have configurations read again."""
    _kept.clear()


@lru_cache(256)
def _of_cluster(cluster: str, patterns: tuple[str, ...]) -> InternalTopics:
    added = tuple(each for each in patterns if not each.startswith("!"))
    exceptions = tuple(each[1:] for each in patterns if each.startswith("!"))
    return InternalTopics(partial(_names_in, cluster), (*CONVENTIONS, *added), exceptions)


def _names_in(cluster: str) -> frozenset[str]:
    read_at, names = _kept.get(cluster, (0.0, None))
    if names is None or monotonic() - read_at >= _KEPT_SECONDS:
        with in_cluster(cluster):
            names = frozenset(name for names_of in NAMED_BY.values() for name in names_of() if name)
        _kept[cluster] = monotonic(), names
    return names

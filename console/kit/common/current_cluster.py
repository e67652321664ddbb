"""Which of the console's clusters this is about: the one an address named, or else the process's own.

A request, a websocket and whatever they call run `in_cluster`; a collector is of one cluster from its start on. A
thread knows nothing of who started it: what it is given to do for a page is `bound` to the page's cluster.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.conf import settings

#: The first cluster: that of the environment, whose processes this console manages, and whose rows lie beside accounts.
MAIN = "main"
#: What an address names that is no cluster: nobody may do anything there, so it reads as one that is kept from people.
NOBODYS = "-"

_bound_cluster: ContextVar[str | None] = ContextVar("cluster", default=None)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def current_cluster() -> str:
    return _bound_cluster.get() or settings.CLUSTER


def is_main() -> bool:
    """Return whether it is the cluster whose processes are managed here."""
    return current_cluster() == MAIN


def all_clusters() -> tuple[str, ...]:
    """Return the first cluster's name, and those that the file names, in its order."""
    return (MAIN, *settings.CLUSTERS)


@contextmanager
def in_cluster(name: str) -> Iterator[None]:
    token = _bound_cluster.set(name)
    try:
        yield
    finally:
        _bound_cluster.reset(token)


def bound(function: Callable[P, R]) -> Callable[P, R]:
    """Bind `function` to the caller's cluster, whichever thread calls it."""
    name = current_cluster()

    @wraps(function)
    def in_its_cluster(*arguments: P.args, **named: P.kwargs) -> R:
        with in_cluster(name):
            return function(*arguments, **named)

    return in_its_cluster


_END = object()


def bound_each(iterator: Iterator[T]) -> Iterator[T]:
    """Iterate in the cluster that is bound now: a file is read after its view has returned."""
    take = bound(lambda: next(iterator, _END))
    return iter(take, _END)  # type: ignore[arg-type]  # it ends at _END and never gives it


class _Here:
    """Settings of the current cluster: for the first those of the console, for others what the file says of them."""

    def __getattr__(self, name: str) -> Any:
        cluster = current_cluster()
        return getattr(settings, name) if cluster == MAIN else settings.CLUSTERS[cluster].values[name]


here = _Here()

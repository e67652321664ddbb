"""The page of another cluster that is nearest to one of this: the same if what it is about is there, else its list."""

from django.contrib.auth.models import User
from django.http import Http404
from django.urls import Resolver404, ResolverMatch, resolve

from console.kit.access.rights import reach_of
from console.kit.common.cluster_urls import address_in, at_cluster, prefix_of
from console.kit.common.managed_here import refuse_elsewhere
from console.state.clusters.access import topics_within
from console.state.clusters.models import Broker
from console.state.consumers.access import groups_within

_PATH_LENGTH_MAX = 2_000


def address_there(user: User, cluster: str, place: str) -> str:
    """Return `place`, of `place_of`, as an address of `cluster`."""
    parts = [part for part in place[:_PATH_LENGTH_MAX].split("/") if part]
    with at_cluster(cluster):
        for length in range(len(parts), 0, -1):
            address = f"/{prefix_of(cluster)}{'/'.join(parts[:length])}/"
            if _is_page(user, address, parts[0]):
                return address
    return address_in(cluster, "overview")


def _is_page(user: User, address: str, first: str) -> bool:
    """Return whether the address is a page to switch to; pages of changes are not: a plan belongs to one cluster."""
    try:
        match = resolve(address)
        refuse_elsewhere(match.func)
    except (Resolver404, Http404):
        return False
    return not match.func.__module__.endswith("change_views") and _is_there(user, match, first)


def _is_there(user: User, match: ResolverMatch, first: str) -> bool:
    """Return whether what the address names is there, and in reach."""
    if not match.kwargs:
        return True
    if len(match.kwargs) > 1:
        return False
    named = next(iter(match.kwargs.values()))
    if first == "topics":
        return topics_within(reach_of(user)).filter(name=named).exists()
    if first == "consumers":
        return groups_within(reach_of(user)).filter(name=named).exists()
    return first == "brokers" and Broker.objects.filter(broker_id=named).exists()

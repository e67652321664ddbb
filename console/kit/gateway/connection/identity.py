"""Whether the cluster that answers is the one the console's rows are about: by its cluster.id, which no other has.

A name stands for one cluster. Behind the same name and addresses there may be another one day: built anew, or added
after the first was removed. Rows, moves and deletions of the one are never shown of, or carried out on, the other.
"""

from collections.abc import Callable

from console.kit.common.current_cluster import current_cluster
from console.kit.common.hook_point import HookPoint
from console.kit.gateway.errors import OTHER, OtherClusterError

#: The cluster.id that the rows of the current cluster were filled from; empty: of none so far.
CLUSTER_ID = HookPoint[Callable[[], str]]("console.kit.gateway.connection.identity.CLUSTER_ID")


def remembered() -> str:
    return next((cluster_id() for cluster_id in CLUSTER_ID), "")


def refuse_other(known: str, cluster_id: str) -> None:
    """Raises OtherClusterError. A cluster of which no id was ever known is compared with nothing.

    Once it was, one that tells none is another, too: no cluster forgets its id.
    """
    if not known or cluster_id == known:
        return
    what = f"its id is {cluster_id}" if cluster_id else "it tells no id"
    raise OtherClusterError(
        f"{OTHER} {what}, and what is kept here is of {known}. Nothing is read from it or changed in it. Point "
        f"the console "
        f"at {known} again, or add this one by another name. Or delete everything that is kept of the old one, on the "
        f"page Clusters or by: python -m console start_afresh {current_cluster()}"
    )


def refuse_of_other(what: str, known: str, cluster_id: str) -> None:
    """Raise OtherClusterError if a service beside the cluster, at an address of its own, belongs to another cluster.

    Who tells no cluster is compared with nothing: of schema registries not every kind does.
    """
    if known and cluster_id and cluster_id != known:
        raise OtherClusterError(
            f"{what} belongs to another cluster, {cluster_id}; this one is {known}. Nothing of it is shown or changed. "
            "Correct its address in the settings."
        )

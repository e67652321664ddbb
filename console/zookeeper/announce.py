"""The push of a change of the ensemble to those who look at its page."""

from console.live import groups
from console.live.push import push_partial
from console.zookeeper.models import EnsembleChange


def push_change(change: EnsembleChange) -> None:
    for can_operate in (True, False):
        context = {"change": change, "can_operate": can_operate}
        push_partial(groups.ensemble_changes(can_operate), "zookeeper/partials/change.html", context)

"""A change of a topic's retention with all it hangs on: the brokers are asked what goes now, and what would go then."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from console.cluster.retention.later import LaterDeletion, is_overdue, later
from console.cluster.retention.plan import (
    RetentionTotals,
    UnreadLoss,
    change_plan,
    compacts_unseen,
    deletes_more,
    differences,
    losses,
    totals,
)
from console.cluster.retention.timeline import RetentionTimeline, timeline
from console.cluster.topics.settings_plan import RETENTION_KEYS
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right
from console.kit.common.clock import now_ms
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.interface import ClusterGateway
from console.kit.gateway.retention.interface import CommittedView, RetentionView

#: What ends an active segment.
ROLL_KEYS = ("segment.ms", "segment.bytes")


@dataclass
class RetentionOutlook:
    """A preview with what a page shows of it."""

    view: RetentionView
    committed: CommittedView
    reach: Reach
    #: partition → the first offset that is young enough to stay, None: none is.
    young_from: Mapping[int, int | None]

    @cached_property
    def totals(self) -> RetentionTotals:
        return totals(self.view)

    @cached_property
    def losses(self) -> tuple[UnreadLoss, ...]:
        """The unread losses of groups in reach."""
        return self._within(losses(self.view, self.committed))

    @cached_property
    def later(self) -> tuple[LaterDeletion, ...]:
        """Later deletions, with the groups in reach."""
        deletions = later(self.view, self.committed, self.young_from)
        return tuple(replace(item, losses=self._within(item.losses)) for item in deletions)

    def _within(self, losses: tuple[UnreadLoss, ...]) -> tuple[UnreadLoss, ...]:
        return tuple(loss for loss in losses if Right.VIEW in self.reach.rights_on(Resource.GROUP, loss.group))

    @cached_property
    def timeline(self) -> RetentionTimeline | None:
        return timeline(self.view, now_ms())


def retention_facts(topic: str, topic_id: str, wanted: Mapping[str, str], reach: Reach) -> dict[str, Any]:
    """Return the retention of a topic; `plan` with `wanted`: setting → typed text. Raises GatewayError."""
    gateway = cluster_gateway()
    settings = {setting.name: setting for setting in gateway.topic_settings(topic)}
    known = [item for name, item in settings.items() if name in RETENTION_KEYS]
    changes = differences(known, wanted)
    committed = gateway.committed_offsets(topic)

    def look(settings: Mapping[str, str | None]) -> RetentionOutlook:
        view = gateway.preview_retention(topic, settings)
        return RetentionOutlook(view, committed, reach, _young_from(gateway, topic, view))

    now = look({})
    then = look({change.name: change.new for change in changes}) if changes else None
    loses_records = then is not None and (deletes_more(now.totals, then.totals) or compacts_unseen(now.view, then.view))
    loses_later = then is not None and is_overdue(then.later) and not is_overdue(now.later)
    return {
        "settings": known,
        "plan": change_plan(topic, known, changes, loses_records, here.BOOTSTRAP_SERVERS, loses_later, topic_id),
        "fields": [(name.replace(".", "_"), text) for name, text in wanted.items()],
        "differences": changes,
        "now": now,
        "then": then,
        "outlook": then or now,
        "rolls": [settings[name] for name in ROLL_KEYS if name in settings],
        "silent_brokers": committed.silent_brokers,
    }


def _young_from(gateway: ClusterGateway, topic: str, view: RetentionView) -> Mapping[int, int | None]:
    if view.retention_ms < 0 or "delete" not in view.cleanup_policy:
        return {}
    partitions = [partition.partition for partition in view.partitions if not partition.error]
    return gateway.offsets_at(topic, max(0, now_ms() - view.retention_ms), partitions)

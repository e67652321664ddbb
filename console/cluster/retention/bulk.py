"""Retention of many topics, and records of many topics deleted up to a moment, by one plan."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from console.cluster.retention.forms import RetentionForm
from console.cluster.retention.outlook import RetentionOutlook, retention_facts
from console.cluster.retention.purge import PurgeBound, PurgePlan
from console.cluster.retention.purge_facts import PurgeWish, aimed_offsets, purge_of
from console.cluster.topics.bulk import RETENTION, BulkWish
from console.cluster.topics.settings_plan import RETENTION_KEYS
from console.kit.access.reach import Reach
from console.kit.common.clock import moment_of, now_ms
from console.kit.common.figures import grouped, size
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.kit.plans.plan import Plan
from console.kit.plans.setting import SettingsPlan
from console.state.clusters.models import Topic

#: Each topic's brokers and groups are wish while the page is drawn.
_TOPICS_MAX = 50


class RetentionOfTopics:
    key, label, verb = RETENTION, "change what retention keeps: the setting to the value", "Change retention"
    action = "change retention of topics"
    topics_max = _TOPICS_MAX

    def settle(self, wish: BulkWish) -> BulkWish:
        setting = wish.setting or RETENTION_KEYS[1]
        if setting not in RETENTION_KEYS:
            raise ValueError(f"{setting} is no setting of retention: {', '.join(RETENTION_KEYS)}.")
        form = RetentionForm({setting.replace(".", "_"): wish.value.strip()})
        if not form.is_valid():
            raise ValueError(f"{setting}: {next(iter(form.errors.values()))[0]}")
        if not form.changes[setting]:
            raise ValueError(f"{setting} needs a value, or the word default.")
        return BulkWish(setting, form.changes[setting])

    def subject(self, wish: BulkWish) -> str:
        return wish.setting

    def plan(self, topic: Topic, wish: BulkWish, reach: Reach) -> Plan | None:
        facts = retention_facts(topic.name, topic.topic_id, {wish.setting: wish.value}, reach)
        plan: SettingsPlan = facts["plan"]
        return replace(plan, losses=(*plan.losses, *_losses(facts)) if plan.losses else ())

    def apply(self, plan: Plan) -> None:
        assert isinstance(plan, SettingsPlan)
        cluster_gateway().change_topic_settings(plan.object_name, plan.wanted)

    def old_value(self, plan: Plan) -> str | None:
        return str(plan.lines[0].old)


class RecordsOfTopics:
    key, label, verb = "empty", "delete records older than the value, a moment", "Delete records"
    action = "delete records of topics"
    topics_max = _TOPICS_MAX

    def settle(self, wish: BulkWish) -> BulkWish:
        """Return the moment; of none it is now: what is written later stays."""
        typed = wish.value.strip()
        moment = moment_of(typed)
        if typed and moment is None:
            raise ValueError("A moment is written as 2026-11-21T06:30:00Z; without one all records up to now go.")
        return BulkWish(
            "", (moment or datetime.fromtimestamp(now_ms() / 1_000, UTC)).isoformat(timespec="milliseconds")
        )

    def subject(self, wish: BulkWish) -> str:
        return "records"

    def plan(self, topic: Topic, wish: BulkWish, reach: Reach) -> Plan | None:
        moment = moment_of(wish.value)
        assert moment is not None
        purge = PurgeWish(PurgeBound.TIME, at=max(0, round(moment.timestamp() * 1_000)))
        return purge_of(topic, aimed_offsets(topic, purge), reach)[1]

    def apply(self, plan: Plan) -> None:
        assert isinstance(plan, PurgePlan)
        refused = cluster_gateway().delete_records(plan.object_name, plan.starts)
        if refused:
            sentences = [f"partition {number}: {why}" for number, why in list(refused.items())[:3]]
            raise GatewayError(f"{len(refused)} of {len(plan.starts)} partitions refused. {'; '.join(sentences)}")

    def old_value(self, plan: Plan) -> str | None:
        return None


def _losses(facts: dict[str, Any]) -> Iterable[str]:
    """Yield what goes at once if it is so, and which groups have not read it."""
    now: RetentionOutlook = facts["now"]
    then: RetentionOutlook = facts["then"]
    records = then.totals.records - now.totals.records
    if records > 0:
        freed = then.totals.size_bytes - now.totals.size_bytes
        yield f"{grouped(records)} records ({size(freed)} on one replica of each) go at once."
    for loss in then.losses:
        yield f"Group {loss.group} has not read {grouped(loss.records)} of them, and never will."

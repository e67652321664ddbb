"""The collector's part: what breaks which rule, as rows with the messages that tell of it, in one transaction."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from console.cluster.charts.readings import readings
from console.kit.access.reach import EVERYTHING
from console.kit.common.databases import cluster_atomic
from console.kit.live.push import push_partial
from console.signals.alerts import store
from console.signals.alerts.conditions import OBJECTS_MAX, AlertCondition, conditions
from console.signals.alerts.evaluation import LOOKS_APART_MS, AlertEvent, AlertPhase, AlertVerdict, advance
from console.signals.alerts.feature import LIVE_GROUP
from console.signals.alerts.file import RulesFile
from console.signals.alerts.kept import with_kept
from console.signals.alerts.messages import MessageObject
from console.signals.alerts.rules import AlertRule, Ruleset
from console.signals.overview.health import Health
from console.signals.overview.queries import health_within
from console.state.clusters.outage import STALE_MS
from console.state.clusters.queries import cluster_state
from console.state.consumers.tiers import TierContext, TierLook

Key = tuple[str, str]


class AlertWatch:
    """Not thread-safe: one thread uses it."""

    def __init__(self, clock_ms: Callable[[], int], file: RulesFile | None = None):
        self._now_ms = clock_ms
        self._file = file or RulesFile()
        self._begun_ms = self._looked_ms = clock_ms()

    def look(self) -> bool:
        """Return whether anything is wrong, by these rules."""
        ruleset, now_ms = with_kept(self._file.read())[0], self._now_ms()
        if now_ms - self._looked_ms > LOOKS_APART_MS:  # the host slept, or the process stood still
            self._begun_ms = now_ms
        self._looked_ms = now_ms
        before = store.open_alerts()
        if not ruleset.rules and not before:
            return False
        with cluster_atomic():
            after, objects = self._step(ruleset, before, now_ms)
            is_news = after != before
            store.keep(before, after)
            store.enqueue(ruleset, objects, {rule for rule, _ in after}, now_ms)
        if is_news:
            store.forget_old()
            push_partial(LIVE_GROUP, "live/resync.html", {"version": now_ms})
        return bool(after)

    def _step(
        self, ruleset: Ruleset, before: Mapping[Key, store.AlertRow], now_ms: int
    ) -> tuple[dict[Key, store.AlertRow], dict[tuple[str, AlertEvent], list[MessageObject]]]:
        """Return the alert rows as they are now, and the events to notify by rule."""
        silenced = store.silenced(now_ms)
        after: dict[Key, store.AlertRow] = {}
        objects: dict[tuple[str, AlertEvent], list[MessageObject]] = defaultdict(list)
        for key, condition in self._conditions(ruleset, before, now_ms).items():
            rule, row = ruleset.rules[key[0]], before.get(key)
            is_known = condition.is_bad is not None
            alert_state, event = advance(
                row.alert_state if row else None,
                AlertVerdict(condition.is_bad),
                rule,
                now_ms,
                is_silenced=rule.name in silenced,
            )
            if alert_state is None:
                continue
            sentence = condition.sentence if is_known or row is None else row.sentence
            link = condition.link or (row.link if row else "")
            after[key] = store.AlertRow(alert_state, rule.severity, sentence, link)
            if event is not None:
                objects[rule.name, event].append(
                    MessageObject(key[1], sentence, alert_state.since_ms, _full(ruleset, link))
                )
        return after, objects

    def _conditions(
        self, ruleset: Ruleset, before: Mapping[Key, store.AlertRow], now_ms: int
    ) -> dict[Key, AlertCondition]:
        """Return conditions that are bad, those that were bad before, and unknown ones; at most OBJECTS_MAX new ones of
        a rule.
        """
        firing = {key for key, row in before.items() if row.alert_state.state is AlertPhase.FIRING}
        alert_conditions: dict[Key, AlertCondition] = {}
        counts: dict[str, int] = defaultdict(int)
        health = health_within(EVERYTHING)
        is_starting = self._is_starting(now_ms)
        for condition in conditions(ruleset, readings(now_ms), health, dict.fromkeys(firing), is_starting=is_starting):
            key = (condition.rule, condition.object_name)
            if key not in before:
                counts[condition.rule] += bool(condition.is_bad)
                if not condition.is_bad or counts[condition.rule] > OBJECTS_MAX:
                    continue
            alert_conditions[key] = condition
        gone = {key for key in before.keys() - alert_conditions.keys() if key[0] in ruleset.rules}
        return alert_conditions | {key: _of_gone(key, ruleset.rules[key[0]], health) for key in gone}

    def _is_starting(self, now_ms: int) -> bool:
        """Return whether the stored state is older than this start: until each tier was read once, for STALE_MS at
        most.
        """
        state = cluster_state()
        read_ms = min(state.brokers_at_ms, state.topics_at_ms, state.groups_at_ms)
        return read_ms < self._begun_ms and now_ms - self._begun_ms < STALE_MS


def _of_gone(key: Key, rule: AlertRule, health: Health) -> AlertCondition:
    """Return the condition of an object that is gone: unknown if the cluster cannot be read, else resolved."""
    if rule.health is not None and health.is_unknown:
        return AlertCondition(*key, is_bad=None)
    return AlertCondition(*key, is_bad=False, sentence=_over(rule))


def _over(rule: AlertRule) -> str:
    return "It is resolved." if rule.health is not None else "It is not there any more."


def _full(ruleset: Ruleset, link: str) -> str:
    return f"{ruleset.console.rstrip('/')}/{link}" if ruleset.console else ""


def tier(context: TierContext) -> TierLook:
    return TierLook(AlertWatch(context.clock_ms).look)

"""What is compared of a cluster, as far as somebody may see it: rows of the collector, and what only brokers tell."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from django.contrib.auth.models import User

from console.kit.access.reach import Reach
from console.kit.access.rights import reach_in
from console.kit.common.current_cluster import bound, in_cluster
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import GatewayError
from console.shell.fleet.comparing import (
    GROUPS,
    INDIVIDUAL,
    RULES,
    SETTINGS,
    TOPICS,
    ClusterFacts,
    Section,
    of_all_brokers,
)
from console.state.clusters.access import topics_within
from console.state.consumers.access import groups_within
from console.state.consumers.models import GroupPartition

#: Topics whose settings are asked for, a request each.
TOPICS_ASKED_MAX = 100
_AT_ONCE = 8
NOT_ALL_NAMES = "Rights do not reach every name in both clusters."

#: Topic → setting → its value, and whether it is the topic's own.
_Settings = Mapping[str, Mapping[str, tuple[str, bool]]]


@dataclass
class _GatheredSections:
    """What brokers said. Who did not answer once is not asked again."""

    sections: dict[str, Section] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    settings: _Settings = field(default_factory=dict)

    def ask(self, name: str, look: Callable[[], Section]) -> None:
        silent = next(iter(self.missing.values()), "")
        try:
            if silent:
                self.missing[name] = silent
            else:
                self.sections[name] = look()
        except GatewayError as error:
            self.missing[name] = str(error)


def facts_of_both(user: User, left: str, right: str) -> tuple[ClusterFacts, ClusterFacts]:
    """Return facts of both clusters, asked in parallel: an unreachable one does not delay the other."""
    reaches = reach_in(user, left), reach_in(user, right)
    stored = [_stored(name, reach) for name, reach in zip((left, right), reaches, strict=True)]
    shared = sorted(stored[0][TOPICS].keys() & stored[1][TOPICS].keys())[:TOPICS_ASKED_MAX]
    with_rules = all(reach.sees_all_names for reach in reaches)
    with ThreadPoolExecutor(2) as threads:
        futures = [threads.submit(_told_in, name, shared, with_rules) for name in (left, right)]
        told_left, told_right = (future.result() for future in futures)
    _compare_topic_settings(stored[0], stored[1], told_left.settings, told_right.settings)
    return _facts(stored[0], told_left), _facts(stored[1], told_right)


def _facts(stored: dict[str, Section], sections: _GatheredSections) -> ClusterFacts:
    return ClusterFacts(stored | sections.sections, sections.missing)


def _stored(cluster: str, reach: Reach) -> dict[str, Section]:
    with in_cluster(cluster):
        return {TOPICS: _topics(reach), GROUPS: _groups(reach)}


def _topics(reach: Reach) -> dict[str, Mapping[str, str]]:
    return {
        topic.name: {"partitions": str(topic.partition_count), "replication factor": str(topic.replication_factor)}
        for topic in topics_within(reach).filter(is_internal=False)
    }


def _groups(reach: Reach) -> Section:
    """Return groups with the topics that they have committed in."""
    groups: dict[str, Mapping[str, str]] = {name: {} for name in groups_within(reach).values_list("name", flat=True)}
    seen = set(topics_within(reach).values_list("name", flat=True))
    reads: dict[str, set[str]] = {}
    for group, topic in GroupPartition.objects.values_list("group__name", "topic").distinct():
        if group in groups and topic in seen:
            reads.setdefault(group, set()).add(topic)
    return groups | {group: {"reads": ", ".join(sorted(topics))} for group, topics in reads.items()}


def _told_in(cluster: str, topics: list[str], with_rules: bool) -> _GatheredSections:
    """Return sections read in a thread, without a database."""
    sections = _GatheredSections()
    with in_cluster(cluster):
        sections.ask(SETTINGS, _broker_settings)
        if with_rules:
            sections.ask(RULES, lambda: {str(rule): {} for rule in cluster_gateway().acls.look().rules})
        else:
            sections.missing[RULES] = NOT_ALL_NAMES
        if SETTINGS in sections.sections:
            sections.settings = _topic_settings(topics)
    return sections


def _broker_settings() -> Section:
    values: dict[str, dict[int, str | None]] = {}
    for broker_id, settings in cluster_gateway().brokers.settings().items():
        for setting in settings:
            if not setting.is_sensitive and setting.name not in INDIVIDUAL:
                values.setdefault(setting.name, {})[broker_id] = setting.value
    return {name: {"value": of_all_brokers(by_broker)} for name, by_broker in values.items()}


def _topic_settings(topics: list[str]) -> _Settings:
    """Return settings of topics that still exist; nothing where brokers do not answer."""
    gateway = cluster_gateway()

    def ask(topic: str) -> Mapping[str, tuple[str, bool]]:
        try:
            return {
                setting.name: (setting.value or "", setting.source == "topic")
                for setting in gateway.topic_settings(topic)
            }
        except GatewayError:
            return {}

    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return dict(zip(topics, threads.map(bound(ask), topics), strict=True))


def _compare_topic_settings(
    left: dict[str, Section], right: dict[str, Section], of_left: _Settings, of_right: _Settings
) -> None:
    """Compare settings that a topic sets itself in either cluster, with the effective values of both."""
    topics_left, topics_right = dict(left[TOPICS]), dict(right[TOPICS])
    for topic in of_left.keys() & of_right.keys():
        here, there = of_left[topic], of_right[topic]
        own = {name for side in (here, there) for name, (_, is_own) in side.items() if is_own}
        if here and there:
            topics_left[topic] = {**topics_left[topic], **{name: here.get(name, ("", False))[0] for name in own}}
            topics_right[topic] = {**topics_right[topic], **{name: there.get(name, ("", False))[0] for name in own}}
    left[TOPICS], right[TOPICS] = topics_left, topics_right

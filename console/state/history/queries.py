"""Reading changes: by time, object and kind."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import QueryDict

from console.kit.access.filters import within
from console.kit.access.log_tail import marks_kept_from, sentence_within
from console.kit.access.reach import EVERYTHING, Reach, Resource
from console.kit.common.clock import now_ms
from console.kit.common.kept_statements import AT_MS, kept_rows
from console.kit.common.time_range import ANY_TIME, TimeRange
from console.state.clusters.models import Topic
from console.state.history.models import TOPIC_KINDS, Change, ChangeKind

RECENT_CHANGES = 8
#: Unclean elections that health speaks of at a time.
UNCLEAN_MAX = 100
#: Whose object is a group.
GROUP_KINDS = (ChangeKind.OFFSETS, ChangeKind.GROUP)
#: What names users, topics and groups, whatever those are.
ALL_NAMES_KINDS = (ChangeKind.ACL, ChangeKind.QUOTA)
#: Stands before a subject that is not named after a topic: no topic can be called so.
SUBJECT = "subject "
#: The kind of a line that is a row of the audit.
ACTION = "action"


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """What the page was asked for. Nonsense in the address counts as not asked."""

    search: str = ""
    kind: str = ""
    #: A part of the object's name, and a person's name.
    object_name: str = ""
    person: str = ""
    range: TimeRange = ANY_TIME
    #: Only this topic: the tab of a topic.
    topic: str = ""

    @classmethod
    def parse(cls, parameters: QueryDict, topic: str = "", *, sees_audit: bool = False) -> "HistoryQuery":
        kind = parameters.get("kind", "")
        return cls(
            search=parameters.get("search", "").strip()[:249],
            kind=kind if kind in ChangeKind.values or (kind == ACTION and sees_audit) else "",
            object_name=parameters.get("object", "").strip()[:249],
            person=parameters.get("person", "").strip()[:150] if sees_audit else "",
            range=TimeRange.parse(parameters, now_ms(), reads_around=True),
            topic=topic,
        )

    @property
    def is_narrow(self) -> bool:
        return self != HistoryQuery(topic=self.topic)


def changes_within(reach: Reach) -> QuerySet[Change]:
    """Return the changes of topics, groups and processes in reach, of brokers and the controller."""
    if reach.is_unbound:
        return Change.objects.all()
    by_name = Q(kind__in=(*TOPIC_KINDS, *GROUP_KINDS, *ALL_NAMES_KINDS, ChangeKind.PROCESS))
    topics = Q(kind__in=TOPIC_KINDS) & within(reach, Resource.TOPIC, "object_name")
    if reach.is_limited(Resource.TOPIC):
        topics &= ~Q(kind=ChangeKind.SCHEMA, object_name__startswith=SUBJECT)
    groups = Q(kind__in=GROUP_KINDS) & within(reach, Resource.GROUP, "object_name")
    if reach.is_limited(Resource.TOPIC):
        groups &= Q(topic="") | within(reach, Resource.TOPIC, "topic")
    processes = Q(kind=ChangeKind.PROCESS) & within(reach, Resource.PROCESS, "object_name")
    seen = ~by_name | topics | groups | processes
    if reach.sees_all_names:
        seen |= Q(kind__in=ALL_NAMES_KINDS)
    return Change.objects.filter(seen)


def chosen_changes(query: HistoryQuery, reach: Reach) -> QuerySet[Change]:
    """Return them, newest first."""
    changes = changes_within(reach)
    if query.topic:
        changes = changes.filter(changes_of_topic(query.topic))
    if query.search:
        changes = changes.filter(sentence__icontains=query.search)
        for mark in marks_kept_from(reach):  # what is not told is not to be found by searching either
            changes = changes.exclude(kind=ChangeKind.PROCESS, sentence__contains=mark)
    if query.kind:
        changes = changes.filter(kind=query.kind)
    if query.object_name:
        changes = changes.filter(Q(object_name__icontains=query.object_name) | Q(topic__icontains=query.object_name))
    if query.person:
        changes = changes.filter(person__icontains=query.person)
    if query.range.start_ms is not None:
        changes = changes.filter(at_ms__gte=query.range.start_ms)
    if query.range.end_ms is not None:
        changes = changes.filter(at_ms__lte=query.range.end_ms)
    return changes


def changes_of_topic(topic: str) -> Q:
    """Return the changes of the topic itself, and of commits in it."""
    return Q(object_name=topic, kind__in=TOPIC_KINDS) | Q(topic=topic)


def recent_changes(reach: Reach = EVERYTHING) -> list[Change]:
    return [redacted(row, reach) for row in kept_rows(_recent, reach)]


def _recent(reach: Reach) -> QuerySet[Change]:
    return changes_within(reach)[:RECENT_CHANGES]


def unclean_elections_since(at_ms: int, reach: Reach = EVERYTHING) -> list[Change]:
    """Return the unclean elections of existing topics, newest first, at most UNCLEAN_MAX."""
    return kept_rows(_unclean_elections, reach, at_ms=at_ms)


def _unclean_elections(reach: Reach) -> QuerySet[Change]:
    elections = Change.objects.filter(
        within(reach, Resource.TOPIC, "object_name"), kind=ChangeKind.UNCLEAN, at_ms__gte=AT_MS
    )
    return elections.filter(object_name__in=Topic.objects.values("name"))[:UNCLEAN_MAX]


def redacted(change: Change, reach: Reach) -> Change:
    """Return the change without what is outside of this reach."""
    if change.kind == ChangeKind.PROCESS:
        change.sentence = sentence_within(reach, change.sentence)
    return change

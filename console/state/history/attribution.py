"""Which changes that were seen were made from the console, and by whom: the audit says so.

A change is seen up to minutes after it was made, the audit's row is written when it is done: so both are compared again
and again while they are young. A change is the person's only if the audit names its object and its new values.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from console.kit.audit.models import AuditEvent
from console.kit.audit.record import cluster_audited
from console.kit.common.databases import cluster_atomic
from console.state.history.configuration import ALL_BROKERS, DEFAULT
from console.state.history.flood import MANY
from console.state.history.models import Change, ChangeKind
from console.state.history.store import refresh_pages

#: A change is seen this long after the console made it, at most; and a moment before its row in the audit.
SEEN_LATE_MS, AUDITED_LATE_MS = 300_000, 10_000
#: Compared at a time.
CHANGES_MAX, EVENTS_MAX = 500, 200
#: What the audit calls the objects of each kind.
_OBJECT_TYPES: Mapping[str, tuple[str, ...]] = {
    ChangeKind.TOPIC: ("topic", "topics"),
    ChangeKind.SETTINGS: ("topic", "topics"),
    ChangeKind.BROKER_SETTINGS: ("broker",),
    ChangeKind.ACL: ("access lists",),
    ChangeKind.QUOTA: ("quota",),
    ChangeKind.SCHEMA: ("subject",),
    ChangeKind.OFFSETS: ("consumer group",),
    ChangeKind.GROUP: ("consumer group",),
}
ATTRIBUTED_KINDS = tuple(_OBJECT_TYPES)
#: A kind without values is known by the verb: what was done to the topic or group.
_VERBS: Mapping[str, tuple[tuple[str, str], ...]] = {
    ChangeKind.TOPIC: (("was created", "create"), ("was deleted", "delete"), ("more", "partitions")),
    ChangeKind.GROUP: (("began", "offsets"), ("is gone", "delete consumer group")),
}


def attribute_changes(at_ms: int) -> None:
    """Attribute recent changes to their actors; such a change gets the time of the audit's row."""
    young = Change.objects.filter(kind__in=ATTRIBUTED_KINDS, audit_id=None, at_ms__gte=at_ms - SEEN_LATE_MS)
    changes = list(young[:CHANGES_MAX])
    if not changes:
        return
    since = datetime.fromtimestamp((at_ms - 2 * SEEN_LATE_MS) / 1000, UTC)
    done = AuditEvent.objects.filter(at__gte=since, result="done", cluster=cluster_audited())
    events = list(
        done.filter(object_type__in={type_ for types in _OBJECT_TYPES.values() for type_ in types})[:EVENTS_MAX]
    )
    made = [change for change in changes if _attribute(change, events)]
    if made:
        with cluster_atomic():
            Change.objects.bulk_update(made, ["audit_id", "person", "at_ms"], batch_size=100)
        refresh_pages(made, f"{at_ms}-{made[0].pk}-by")


def is_by_unknown(change: Change, at_ms: int) -> bool:
    """Return whether a client made `change` that is none of the console's: the cluster tells what is so, not who set
    it.

    Groups begin and expire by themselves, and of a flood's last line the console may have made a part. A young change
    may yet be compared.
    """
    is_of_client = change.kind in ATTRIBUTED_KINDS and change.kind != ChangeKind.GROUP
    is_settled = at_ms - change.at_ms > 2 * AUDITED_LATE_MS
    return is_of_client and is_settled and change.audit_id is None and change.object_name != MANY


def _attribute(change: Change, events: Iterable[AuditEvent]) -> bool:
    for event in events:  # the newest first
        made_ms = int(event.at.timestamp() * 1000)
        is_near = change.at_ms - SEEN_LATE_MS <= made_ms <= change.at_ms + AUDITED_LATE_MS
        if is_near and is_made_by(change, event):
            change.audit_id, change.person = event.pk, event.actor_name
            change.at_ms = min(change.at_ms, made_ms)
            return True
    return False


def is_made_by(change: Change, event: AuditEvent) -> bool:
    """Return whether the audit's row names the object of the change and what it is now."""
    if event.object_type not in _OBJECT_TYPES.get(change.kind, ()):
        return False
    before, after = event.before or {}, event.after or {}
    values: dict[str, list[str | None]] = change.values or {}
    if event.object_type == "topics":
        return _is_one_of_many(change, event, before, after)
    if change.object_name == MANY:
        return change.kind == ChangeKind.ACL and "and more" in after
    if not _is_named(change, event):
        return False
    if change.kind == ChangeKind.ACL and not values.keys() <= after.keys() | before.keys():
        return False  # beyond those that the audit names: it may be anybody's
    if change.kind in _VERBS:
        return any(words in change.sentence and verb in event.action for words, verb in _VERBS[change.kind])
    if change.kind in (ChangeKind.QUOTA, ChangeKind.SCHEMA):  # the audit has the value in other words
        return change.kind == ChangeKind.SCHEMA or _holds(values, after)
    return all(
        _is_now(name, new, after) for name, (_, new) in values.items() if name in after or "and more" not in after
    )


def _is_named(change: Change, event: AuditEvent) -> bool:
    if change.kind == ChangeKind.ACL:
        return True
    if change.kind == ChangeKind.BROKER_SETTINGS:
        name = "all" if change.object_name == ALL_BROKERS else change.object_name.removeprefix("broker-")
        return event.object_name == name
    if change.kind == ChangeKind.SCHEMA:
        return event.object_name in (change.values or {})
    return event.object_name == change.object_name[: len(event.object_name)] and (
        len(event.object_name) == len(change.object_name) or len(event.object_name) >= 255
    )


def _is_one_of_many(change: Change, event: AuditEvent, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether the change is one of many topics': the setting is the object, topics are the names."""
    topic = change.object_name
    is_there = topic in after or "and more" in after
    if change.kind == ChangeKind.TOPIC:
        return is_there and "was deleted" in change.sentence and "delete" in event.action
    if list(change.values or {}) != [event.object_name]:
        return False
    ((_, new),) = (change.values or {}).values()
    return is_there and (
        _same(after[topic], new) if topic in after else any(_same(value, new) for value in after.values())
    )


def _holds(values: Collection[str], after: Collection[str]) -> bool:
    return bool(values) and all(name in after for name in values)


def _is_now(name: str, new: str | None, after: Mapping[str, Any]) -> bool:
    return name in after and _same(after[name], new)


def _same(audited: object, new: str | None) -> bool:
    """Return whether two values are equal; the audit writes None or `default` where an own value is removed."""
    if new is None:
        return audited is None or audited == DEFAULT
    return audited is not None and str(audited) == new

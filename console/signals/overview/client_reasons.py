"""Troubles of consumer groups as sentences: what will be lost first, then who does not read. Pure."""

from collections.abc import Iterable, Sequence

from console.kit.common.figures import duration, grouped
from console.signals.overview.health import HealthLevel, HealthReason, NextAction, TroubledGroup

#: Groups with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
#: A group may be called by 255 characters; a reason is one sentence.
_NAME_LENGTH_MAX = 40


def group_reasons(groups: Sequence[TroubledGroup], count: int) -> Iterable[HealthReason]:
    """`groups` are the worst of `count`."""
    ordered = sorted(groups, key=lambda group: (group.expires_in_ms is None, group.expires_in_ms or 0))
    yield from map(group_reason, ordered[:NAMED_MAX])
    more = count - min(NAMED_MAX, len(groups))
    if more > 0:
        text = f"{grouped(more)} more consumer {'group is' if more == 1 else 'groups are'} in trouble."
        action = NextAction("See those in trouble", "consumers")
        yield HealthReason(HealthLevel.WARNING, "Consumer groups", text, action, key="more groups", weight=more)


def group_reason(group: TroubledGroup) -> HealthReason:
    """What is worst about one group."""
    return _badly_read(group) if group.expires_in_ms is None else _expiring(group, group.expires_in_ms)


def _expiring(group: TroubledGroup, in_ms: int) -> HealthReason:
    name = _short(group.name)
    when = f"in {duration(in_ms)}" if in_ms >= 1_000 else "now"
    text = f"Group {name} will lose records: the oldest it has not read may be deleted {when}."
    action = NextAction("Start its consumers, or keep the records longer", "group", group.name)
    return _reason("expires", group, text, action)


def _badly_read(group: TroubledGroup) -> HealthReason:
    name = _short(group.name)
    if group.member_count == 0 and group.lag:
        trouble = "unread"
        text = f"Group {name} has no members and {grouped(group.lag)} unread {_records(group.lag)}{_lost_too(group)}."
        action = NextAction("Start its consumers, or delete it if it is retired", "group", group.name)
    elif group.lost:
        trouble = "lost"
        text = f"Group {name} lost {grouped(group.lost)} records: they were deleted before it read them."
        action = NextAction("Find out why it fell behind; reset its offsets", "group", group.name)
    else:
        trouble = group.verdict
        text = f"Group {name} does not get on ({group.verdict}): {_as_clause(group.meaning)}"
        action = NextAction("See which partition and which member", "group", group.name)
    return _reason(trouble, group, text, action)


def _reason(trouble: str, group: TroubledGroup, text: str, action: NextAction) -> HealthReason:
    return HealthReason(
        HealthLevel.WARNING,
        f"Group {_short(group.name)}",
        text,
        action,
        _evidence(group),
        key=f"group:{trouble}:{group.name}",
        weight=group.lost,
        about="group",
        name=group.name,
        may_retire=group.member_count == 0,
    )


def _evidence(group: TroubledGroup) -> str:
    found = [f"consumer lag {grouped(group.lag)}"] if group.lag is not None else []
    if group.behind_ms is not None:
        found.append(f"behind by {duration(group.behind_ms)}")
    match group.member_count:
        case None:
            members = "members unknown"
        case 0:
            members = "no members"
        case count:
            members = f"{count} member{'' if count == 1 else 's'}"
    return " · ".join([*found, members, *([group.why] if group.why else [])])


def _records(count: int) -> str:
    return "record" if count == 1 else "records"


def _lost_too(group: TroubledGroup) -> str:
    return f", and lost {grouped(group.lost)} that were deleted before" if group.lost else ""


def _as_clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH_MAX else f"{name[:_NAME_LENGTH_MAX]}…"

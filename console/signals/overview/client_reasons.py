"""Troubles of consumer groups as sentences: what is lost first, then what will be, then bad reading. Pure."""

from collections.abc import Iterable, Sequence

from console.kit.common.figures import duration, grouped
from console.signals.overview.health import HealthLevel, HealthReason, TroubledGroup
from console.signals.overview.next_action import NextAction

#: Groups with a reason of their own; the rest are counted in one.
NAMED_MAX = 4
#: A group may be called by 255 characters; a reason is one sentence.
_NAME_LENGTH_MAX = 40


def group_reasons(groups: Sequence[TroubledGroup], count: int) -> Iterable[HealthReason]:
    """Return reasons; `groups` are the worst of `count`."""
    ordered = sorted(
        groups, key=lambda group: (not group.is_losing, group.expires_in_ms is None, group.expires_in_ms or 0)
    )
    yield from map(group_reason, ordered[:NAMED_MAX])
    more = count - min(NAMED_MAX, len(groups))
    if more > 0:
        text = f"{grouped(more)} more consumer {'group is' if more == 1 else 'groups are'} in trouble."
        action = NextAction("See those in trouble", "consumers")
        yield HealthReason(HealthLevel.WARNING, "Consumer groups", text, action, key="more groups", weight=more)


def group_reason(group: TroubledGroup) -> HealthReason:
    """Return the worst problem of one group: ongoing loss, impending loss, bad reading, past loss."""
    if group.is_losing and group.member_count != 0:
        return _losing(group)
    if group.expires_in_ms is not None:
        return _expiring(group, group.expires_in_ms)
    if group.member_count == 0 and group.lag:
        return _memberless(group)
    if group.lost:
        return _lost(group)
    name = _short(group.name)
    text = f"Group {name} does not get on ({group.verdict}): {_as_clause(group.meaning)}"
    action = NextAction("See which partition and which member", "group", group.name)
    return _reason(group.verdict, group, text, action, since_ms=group.since_ms)


def _losing(group: TroubledGroup) -> HealthReason:
    text = f"Group {_short(group.name)} has lost {_of_records(group.lost)}: retention deleted them before it read them."
    action = NextAction(f"Keep the records longer (retention.ms) first, then {_cure(group)}", "group", group.name)
    return _reason("lost", group, text, action, HealthLevel.CRITICAL, group.lost_since_ms)


def _expiring(group: TroubledGroup, in_ms: int) -> HealthReason:
    name = _short(group.name)
    when = f"in {duration(in_ms)}" if in_ms >= 1_000 else "now"
    lost = f" has lost {_of_records(group.lost)} and" if group.lost else ""
    more = "more" if lost else "records"
    text = f"Group {name}{lost} will lose {more}: the oldest it has not read may be deleted {when}."
    if group.member_count == 0:
        action = NextAction("Start its consumers, or keep the records longer", "group", group.name)
    else:
        action = NextAction(f"Keep the records longer (retention.ms), then {_cure(group)}", "group", group.name)
    level = HealthLevel.CRITICAL if group.is_losing else HealthLevel.WARNING
    since_ms = group.lost_since_ms if group.lost else group.empty_since_ms or group.since_ms
    return _reason("expires", group, text, action, level, since_ms)


def _memberless(group: TroubledGroup) -> HealthReason:
    lost = f", and lost {grouped(group.lost)} that were deleted before" if group.lost else ""
    text = (
        f"Group {_short(group.name)} has no members and {grouped(group.lag)} unread {_records(group.lag or 0)}{lost}."
    )
    action = NextAction("Start its consumers, or delete it if it is retired", "group", group.name)
    level = HealthLevel.CRITICAL if group.is_losing else HealthLevel.WARNING
    return _reason("unread", group, text, action, level, group.empty_since_ms)


def _lost(group: TroubledGroup) -> HealthReason:
    text = f"Group {_short(group.name)} lost {_of_records(group.lost)}: they were deleted before it read them."
    action = NextAction(
        "Compare retention.ms with how far it falls behind, then acknowledge the loss", "group", group.name
    )
    return _reason("lost", group, text, action, since_ms=group.lost_since_ms)


def _of_records(count: int) -> str:
    return f"{grouped(count)} {_records(count)}"


def _cure(group: TroubledGroup) -> str:
    if group.read_per_second == 0:
        return "find why its members commit nothing"
    return "make its members read faster, or add some"


def _reason(
    trouble: str,
    group: TroubledGroup,
    text: str,
    action: NextAction,
    level: HealthLevel = HealthLevel.WARNING,
    since_ms: int | None = None,
) -> HealthReason:
    return HealthReason(
        level,
        f"Group {_short(group.name)}",
        text,
        action,
        _evidence(group),
        since_ms,
        key=f"group:{trouble}:{group.name}",
        weight=group.lost,
        about="group",
        name=group.name,
        may_retire=group.member_count == 0,
    )


def _evidence(group: TroubledGroup) -> str:
    evidence = [f"consumer lag {grouped(group.lag)}"] if group.lag is not None else []
    if group.behind_ms is not None:
        evidence.append(f"behind by {duration(group.behind_ms)}")
    match group.member_count:
        case None:
            members = "members unknown"
        case 0:
            members = "no members"
        case count:
            members = f"{count} member{'' if count == 1 else 's'}"
    return " · ".join([*evidence, members, *([group.why] if group.why else [])])


def _records(count: int) -> str:
    return "record" if count == 1 else "records"


def _as_clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH_MAX else f"{name[:_NAME_LENGTH_MAX]}…"

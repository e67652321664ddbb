"""Rules of changes: which actions on which names need a second person, or may be made when. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from fnmatch import fnmatchcase
from typing import Any

from console.kit.features.listed import features
from console.kit.plans.plan import Plan
from console.kit.plans.posted import PlanHold
from console.shell.changes.windows import DAYS, ChangeWindow, Freeze, is_zone, next_opening

RULES_MAX = 100
APPROVAL, WINDOW, FREEZE = "approval", "window", "freeze"
KINDS = (APPROVAL, WINDOW, FREEZE)
WAIT, REFUSE = "wait", "refuse"
OBJECT_TYPE = "change rule"
#: Changes of these rules; as soon as one asks for a second person, these need one too.
KEEP, REMOVE = "keep change rule", "remove change rule"
#: What makes a secret that is told once and kept nowhere, or takes one.
_SECRET = frozenset(action for feature in features() for action in feature.secret_actions)
#: What is the same by another name: a rule about the one is about the other.
_ALSO: Mapping[str, tuple[str, ...]] = {
    same.action: same.rules_of for feature in features() for same in feature.same_actions
}
#: Actions that the form suggests; others can be typed.
SUGGESTED = tuple(action for feature in features() for action in feature.suggested_actions)
_WILD = ("*", "?", "[")


class RuleError(Exception):
    """One sentence for who wrote the rule."""


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """`actions` and `objects` are patterns; a plan is concerned if one of each fits."""

    name: str
    kind: str
    actions: tuple[str, ...]
    objects: tuple[str, ...]
    why: str = ""
    outside: str = WAIT
    window: ChangeWindow | None = None
    freeze: Freeze | None = None

    def concerns(self, plan: Plan) -> bool:
        if plan.object_type == OBJECT_TYPE and self.kind != APPROVAL:
            return False
        return any(self._fits(part) for part in (plan, *plan.parts))

    def holds(self, at: datetime) -> bool:
        """Return whether it keeps what it concerns from being made now."""
        if self.window is not None:
            return not self.window.is_open(at)
        return self.freeze is None or self.freeze.holds(at)

    def _fits(self, plan: Plan) -> bool:
        actions = (plan.action, *_ALSO.get(plan.action, ()))
        if not any(fnmatchcase(action, pattern) for action in actions for pattern in self.actions):
            return False
        names = (plan.object_name, *plan.about)
        return any(_meets(pattern, name) for pattern in self.objects for name in names)


@dataclass(frozen=True, slots=True)
class RuleDemand:
    """What rules ask of a plan now."""

    approval: tuple[ApprovalRule, ...] = ()
    closed: tuple[ApprovalRule, ...] = ()
    opens_at: datetime | None = field(default=None)

    def hold(self, plan: Plan, *, is_approved: bool, in_emergency: bool) -> PlanHold | None:
        """Return what holds `plan` back."""
        approval = () if is_approved else self.approval
        closed = () if in_emergency else self.closed
        if not approval and not closed:
            return None
        needs = [f"It needs a second person ({_names(approval)})."] if approval else []
        needs += [_closed_text(closed, self.opens_at)] if closed else []
        has_secret = any(part.action in _SECRET for part in (plan, *plan.parts))
        is_refused = any(item.outside == REFUSE for item in closed)
        if has_secret:
            needs.append("It has a secret that is kept nowhere, so it cannot wait: nothing was changed.")
        elif is_refused:
            needs.append("Nothing was changed.")
        rules = tuple(item.name for item in (*approval, *closed))
        return PlanHold(" ".join(needs), not has_secret and not is_refused, bool(approval), bool(closed), rules)


def demand_of(rules: Sequence[ApprovalRule], plan: Plan, at: datetime) -> RuleDemand:
    """Return what the rules ask for; `at` is in UTC."""
    meant = [rule for rule in rules if rule.concerns(plan)]
    approval = [item for item in meant if item.kind == APPROVAL]
    if not approval and plan.object_type == OBJECT_TYPE:
        approval = [rule for rule in rules if rule.kind == APPROVAL][:1]
    timed = [item for item in meant if item.kind != APPROVAL]
    closed = tuple(rule for rule in timed if rule.holds(at))
    windows = [finding.window for finding in timed if finding.window]
    opens_at = next_opening(windows, [item.freeze for item in timed if item.freeze], at) if closed else None
    return RuleDemand(tuple(approval), closed, opens_at)


def parse_rule(name: str, values: Mapping[str, Any]) -> ApprovalRule:
    """Parse a kept rule. Raises RuleError."""
    kind = str(values.get("kind", ""))
    actions, objects = _patterns(values, "actions"), _patterns(values, "objects")
    if kind not in KINDS:
        raise RuleError(f"A rule is of one of these kinds: {', '.join(KINDS)}.")
    window = _window(values) if kind == WINDOW else None
    freeze = _freeze(values) if kind == FREEZE else None
    outside = REFUSE if values.get("outside") == REFUSE else WAIT
    return ApprovalRule(name, kind, actions, objects, str(values.get("why", ""))[:300], outside, window, freeze)


def _window(values: Mapping[str, Any]) -> ChangeWindow:
    zone = str(values.get("zone", "")) or "UTC"
    days = frozenset(str(day) for day in values.get("days", ()))
    if not is_zone(zone):
        raise RuleError(f"There is no time zone {zone[:60]}; they are called as Europe/Berlin.")
    if not days or not days <= set(DAYS):
        raise RuleError("Choose the days on which it begins.")
    return ChangeWindow(days, _time(values, "begins"), _time(values, "ends"), zone)


def _freeze(values: Mapping[str, Any]) -> Freeze:
    begins, ends = (_moment(values, key) for key in ("from", "to"))
    if ends <= begins:
        raise RuleError("A freeze ends after it begins.")
    return Freeze(begins, ends)


def _time(values: Mapping[str, Any], key: str) -> time:
    try:
        return time.fromisoformat(str(values.get(key, "")))
    except ValueError:
        raise RuleError("A window begins and ends at a time, as 22:00.") from None


def _moment(values: Mapping[str, Any], key: str) -> datetime:
    try:
        moment = datetime.fromisoformat(str(values.get(key, "")))
    except ValueError:
        raise RuleError("A freeze has a moment from which and one to which it holds.") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _patterns(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    patterns = tuple(str(value) for value in values.get(key, ()))
    if (
        not patterns
        or any(not name or len(name) > 249 or name.count("*") > 5 for name in patterns)
        or len(patterns) > 50
    ):
        raise RuleError(f"A rule names {key}: patterns of at most 249 characters and 5 stars, as prod.*")
    return patterns


def _meets(pattern: str, name: str) -> bool:
    """Return whether something of `name` may fit: one that ends with * is all that begins so."""
    if not name.endswith("*"):
        return fnmatchcase(name, pattern)
    head, begin = _head(pattern), name[:-1]
    return head.startswith(begin) or begin.startswith(head)


def _head(pattern: str) -> str:
    return pattern[: min((at for name in _WILD if (at := pattern.find(name)) >= 0), default=len(pattern))]


def _closed_text(closed: Sequence[ApprovalRule], opens_at: datetime | None) -> str:
    whys = "; ".join(f"{rule.name}{f': {rule.why}' if rule.why else ''}" for rule in closed)
    when = f"possible from {opens_at:%Y-%m-%d %H:%M} UTC" if opens_at else "not possible within the next weeks"
    return f"It may not be made now ({whys}); it is {when}."


def _names(rules: Iterable[ApprovalRule]) -> str:
    return ", ".join(f"rule {rule.name}{f': {rule.why}' if rule.why else ''}" for rule in rules)

"""Who gains and who loses what by a change of rules: every principal that is known, decided before and after. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from console.kit.gateway.acls.decisions import AclDecisions, with_changes
from console.kit.gateway.acls.interface import (
    ANY_HOST,
    ANYBODY,
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    AclRule,
    AclView,
    kafka_name,
)

#: Of principal, host and names that are alike: about a second. Beyond it the page says that there are more.
COMPARED_MAX = 20_000
_CLUSTER, _ALTER = "CLUSTER", "ALTER"
#: Those that no rule names.
ANY_OTHER = "any other"
#: Names told of one effect.
_NAMED_MAX = 3

#: Type of resource → the names that are known of it.
Names = Callable[[str], Collection[str]]


@dataclass(frozen=True, slots=True)
class AclChange:
    """Rules that come, and rules that go."""

    added: tuple[AclRule, ...] = ()
    removed: tuple[AclRule, ...] = ()

    @classmethod
    def real(cls, view: AclView, added: Collection[AclRule], removed: Collection[AclRule]) -> "AclChange":
        """Return the part of the change that makes a difference now, sorted."""
        there = set(view.rules)
        return cls(tuple(sorted(set(added) - there)), tuple(sorted(set(removed) & there - set(added))))

    @property
    def inverse(self) -> "AclChange":
        return AclChange(self.removed, self.added)

    @property
    def rules(self) -> tuple[AclRule, ...]:
        return (*self.added, *self.removed)


@dataclass(frozen=True, slots=True, order=True)
class AclEffect:
    """`host` ANY_HOST: from wherever no rule of its own says otherwise. `names` are sorted, and as they are told: or…
    is whatever begins so."""

    principal: str
    gains: bool
    resource: str
    operations: tuple[str, ...]
    names: tuple[str, ...]
    host: str = ANY_HOST

    def __str__(self) -> str:
        done = ", ".join(map(kafka_name, self.operations))
        where = "" if self.host == ANY_HOST else f" from {self.host}"
        return f"{who(self.principal)} {'gains' if self.gains else 'loses'} {done} on {self.on_what}{where}"

    @property
    def on_what(self) -> str:
        if self.resource == _CLUSTER:
            return "the cluster"
        more = f" and {len(self.names) - _NAMED_MAX} more" if len(self.names) > _NAMED_MAX else ""
        return f"{kafka_name(self.resource)} {', '.join(self.names[:_NAMED_MAX])}{more}"


@dataclass(frozen=True, slots=True)
class Effects:
    """What was found, and whether that is all."""

    listed: tuple[AclEffect, ...]
    is_whole: bool = True

    @property
    def losses(self) -> tuple[AclEffect, ...]:
        return tuple(effect for effect in self.listed if not effect.gains)


def who(principal: str) -> str:
    return "everybody else" if principal == ANYBODY else principal


def concerned(view: AclView, change: AclChange, known: Collection[str]) -> Collection[str]:
    """Return the affected principals or names: all `known` for a rule about everybody, else those named."""
    named = {rule.principal for rule in change.rules}
    return {*named, *known, ANYBODY} if view.allows_if_none or ANYBODY in named else named


def effects(view: AclView, change: AclChange, principals: Collection[str], names: Names) -> Effects:
    """Return what the change means to these principals."""
    before, after = AclDecisions(view), AclDecisions(with_changes(view, change.added, change.removed))
    places, labels = _places(view, change, principals, names), _labels(change, names)
    differences: dict[tuple[str, bool, str, str, str], list[str]] = {}
    for principal, host, resource, alike in islice(places, COMPARED_MAX):
        for operation, gains in _differences(before, after, principal, host, resource, alike[0]).items():
            operations = differences.setdefault((principal, gains, resource, host, operation), [])
            operations.extend(labels.get((resource, name), name) for name in alike)
    return Effects(_grouped(differences), next(places, None) is None)


def _labels(change: AclChange, names: Names) -> dict[tuple[str, str], str]:
    """Return labels of rule names where they stand for others and no resource is called so."""
    known = {resource: frozenset(names(resource)) for resource in {rule.resource for rule in change.rules}}
    labels = {}
    for acl_rule in sorted(change.rules, key=lambda rule: not rule.is_prefixed):
        if acl_rule.is_prefixed and acl_rule.name not in known[acl_rule.resource]:
            labels[acl_rule.resource, acl_rule.name] = f"{acl_rule.name}…"
        elif acl_rule.name == WILDCARD:
            labels[acl_rule.resource, WILDCARD] = ANY_OTHER
    return labels


def hosts_of(rules: Collection[AclRule]) -> tuple[str, ...]:
    """Return the hosts to consider: each that a rule names, and any other."""
    return ANY_HOST, *sorted({rule.host for rule in rules} - {ANY_HOST})


def who_may_alter(view: AclView) -> frozenset[str]:
    """Return the principals that may change access lists from some host; everybody counts as one."""
    rules = [rule for rule in view.rules if rule.resource == _CLUSTER]
    decisions, hosts = AclDecisions(view), hosts_of(rules)
    principals = {rule.principal for rule in rules} | (view.super_users or frozenset()) | {ANYBODY}

    def may(principal: str, host: str) -> bool:
        return _ALTER in decisions.allowed(principal, host, _CLUSTER, CLUSTER_NAME)

    return frozenset(name for name in principals if any(may(name, host) for host in hosts))


def _differences(
    before: AclDecisions, after: AclDecisions, principal: str, host: str, resource: str, name: str
) -> dict[str, bool]:
    """Return operation → whether it is allowed after the change, where that differs; without what any host gives
    anyway.
    """

    def at(place: str) -> Mapping[str, bool]:
        was, then = before.allowed(principal, place, resource, name), after.allowed(principal, place, resource, name)
        return {
            operation: operation in then
            for operation in OPERATIONS[resource]
            if (operation in was) is not (operation in then)
        }

    at_host = at(host)
    if not at_host or host == ANY_HOST:
        return dict(at_host)
    anywhere = at(ANY_HOST)
    return {item: gains for item, gains in at_host.items() if anywhere.get(item) is not gains}


def _places(
    view: AclView, change: AclChange, principals: Collection[str], names: Names
) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    """Yield names that the same rules apply to together: what holds for one of them holds for all."""
    rules, hosts = change.rules, hosts_of(change.rules)
    for resource in sorted({rule.resource for rule in rules}):
        about = [rule for rule in rules if rule.resource == resource]
        kinds = _alike([*view.rules, *rules], resource, _met(about, names(resource)))
        for principal in sorted(principals):
            for alike in kinds:
                for host in hosts:
                    yield principal, host, resource, alike


def _alike(rules: Collection[AclRule], resource: str, names: Collection[str]) -> list[list[str]]:
    about = [rule for rule in rules if rule.resource == resource]
    literals = {rule.name for rule in about if not rule.is_prefixed}
    prefixes = {rule.name for rule in about if rule.is_prefixed}
    lengths = sorted({len(prefix) for prefix in prefixes})
    groups: dict[tuple[object, ...], list[str]] = {}
    for name in sorted(names):
        met = [length for length in lengths if length <= len(name) and name[:length] in prefixes]
        own = name if name in literals else None
        groups.setdefault((own, *(name[:length] for length in met)), []).append(name)
    return list(groups.values())


def _met(rules: Collection[AclRule], names: Collection[str]) -> set[str]:
    """Return the names that rules are about, and those they are called by."""
    own = {rule.name for rule in rules}
    if any(rule.name == WILDCARD and not rule.is_prefixed for rule in rules):
        return own | set(names)
    prefixes = tuple({rule.name for rule in rules if rule.is_prefixed})
    return own | {name for name in names if name.startswith(prefixes)}


def _grouped(differences: Mapping[tuple[str, bool, str, str, str], list[str]]) -> tuple[AclEffect, ...]:
    """Group operations that change on the same names; losses first."""
    together: dict[tuple[str, bool, str, str, tuple[str, ...]], list[str]] = {}
    for (principal, gains, resource, host, operation), names in differences.items():
        together.setdefault((principal, gains, resource, host, tuple(sorted(names))), []).append(operation)
    effects = [
        AclEffect(principal, gains, resource, tuple(operations), names, host)
        for (principal, gains, resource, host, names), operations in together.items()
    ]
    return tuple(sorted(effects, key=lambda effect: (effect.gains, effect)))

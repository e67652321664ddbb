"""The matrix: each principal with each resource that rules connect it with, and what is decided for every operation.

Thousands of rules make millions of pairs. Which there are is known by counting: resources are sorted, so a prefix is a
range of them. Only those on screen are decided. Pure.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from console.cluster.acls.decision_text import deciding_text
from console.kit.gateway.acls.decisions import AclDecision, AclDecisions
from console.kit.gateway.acls.interface import ANYBODY, OPERATIONS, WILDCARD, AclRule, AclView

#: Every name that begins with p comes before p + this.
_BEYOND = "\U0010ffff"
_ALL = "ALL"
#: Names stand for more than themselves.
PREFIX, ANY_NAME = "prefix", "any"

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the page was asked for. `operation` empty: every one; `everything`: pairs of which no rule speaks, too."""

    resource: str = "TOPIC"
    principal: str = ""
    name: str = ""
    operation: str = ""
    host: str = "*"
    everything: bool = False

    @property
    def operations(self) -> tuple[str, ...]:
        return (self.operation,) if self.operation else OPERATIONS[self.resource]


@dataclass(frozen=True, slots=True)
class AclRow:
    """`stands_for`: PREFIX or ANY_NAME where no such resource is there but a rule is about names like it."""

    principal: str
    name: str
    stands_for: str
    is_there: bool
    decisions: tuple[AclDecision, ...]

    @property
    def rules(self) -> tuple[AclRule, ...]:
        """The rules that decide something, each once."""
        return tuple(dict.fromkeys(decision.rule for decision in self.decisions if decision.rule))

    @property
    def others(self) -> tuple[str, ...]:
        """What decides where no rule does, in words."""
        return tuple(
            dict.fromkeys(
                deciding_text(decision) for decision in self.decisions if not decision.rule and decision.is_allowed
            )
        )


class Matrix:
    """The rows that `choice` asks for: their number, and any slice of them."""

    def __init__(self, view: AclView, choice: Choice, principals: Collection[str], known: Collection[str]):
        """`principals` and `known` names of that type of resource, besides those that rules name."""
        self._view, self._choice, self._decisions = view, choice, AclDecisions(view)
        rules = [rule for rule in view.rules if rule.resource == choice.resource]
        self._known = frozenset(known)
        self._prefixes = {rule.name for rule in rules if rule.is_prefixed}
        self._names = sorted(_matching(choice.name, self._known | {rule.name for rule in rules}))
        named = {*principals, *(rule.principal for rule in view.rules), ANYBODY}
        self._principals = sorted(_matching(choice.principal, named))
        self._ranges = self._connected(rules)
        self._count = sum(end - start for ranges in self._ranges.values() for start, end in ranges)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, wanted: slice) -> list[AclRow]:
        start, end, _ = wanted.indices(self._count)
        return [self._row(*pair) for pair in self._pairs(start, end)]

    def __iter__(self) -> Iterator[AclRow]:
        return (self._row(*pair) for pair in self._pairs(0, self._count))

    def _pairs(self, start: int, end: int) -> Iterator[tuple[str, str]]:
        at = 0
        for principal in self._principals:
            for first, last in self._ranges[principal]:
                size = last - first
                for number in range(max(0, start - at), min(size, end - at)):
                    yield principal, self._names[first + number]
                at += size
                if at >= end:
                    return

    def _row(self, principal: str, name: str) -> AclRow:
        choice = self._choice
        decisions = self._decisions.of(principal, choice.host, choice.resource, name)
        is_there = name in self._known
        stands_for = "" if is_there else ANY_NAME if name == WILDCARD else PREFIX if name in self._prefixes else ""
        return AclRow(
            principal, name, stands_for, is_there, tuple(decisions[operation] for operation in choice.operations)
        )

    def _connected(self, rules: Sequence[AclRule]) -> Mapping[str, list[Range]]:
        """Return principal → ranges of names with which rules, or its super user status, connect it."""
        everything = [(0, len(self._names))] if self._names else []
        if self._choice.everything or self._view.allows_if_none:
            return dict.fromkeys(self._principals, everything)
        speaking: dict[str, list[AclRule]] = {}
        for rule in rules:
            if self._choice.operation in ("", rule.operation) or self._is_decided_by(rule):
                speaking.setdefault(rule.principal, []).append(rule)
        of_all = [self._range(item) for item in speaking.get(ANYBODY, ())]
        ranges = {}
        for principal in self._principals:
            own = [] if principal == ANYBODY else [self._range(item) for item in speaking.get(principal, ())]
            is_super = principal in (self._view.super_users or ())
            ranges[principal] = everything if is_super else _merged(own + of_all)
        return ranges

    def _is_decided_by(self, rule: AclRule) -> bool:
        """Return whether the operation that was asked for can hang on a rule about another: ALL, and what implies
        it.
        """
        if rule.operation == _ALL:
            return True
        return rule.allows and self._choice.operation.startswith("DESCRIBE")

    def _range(self, rule: AclRule) -> Range:
        if rule.name == WILDCARD and not rule.is_prefixed:
            return 0, len(self._names)
        start = bisect_left(self._names, rule.name)
        if rule.is_prefixed:
            return start, bisect_left(self._names, rule.name + _BEYOND)
        return start, start + (self._names[start : start + 1] == [rule.name])


def _matching(text: str, names: Collection[str]) -> Collection[str]:
    return [name for name in names if text.casefold() in name.casefold()] if text else names


def _merged(ranges: list[Range]) -> list[Range]:
    """Return the same names, each once and in order."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if start == end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged

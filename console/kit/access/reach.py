"""How far a person's rights reach: a role for everything, and rules for names that match a pattern. Pure.

As with Kafka's ACLs a rule that takes away wins over all that give, whatever their order; otherwise the most that the
role or a matching rule gives counts. Rules do not bind administrators: they could change them.
"""

from dataclasses import dataclass
from enum import StrEnum

from console.kit.access.internal_names import BY_CONVENTION, InternalTopics
from console.kit.access.patterns import matches as matches  # part of what this module offers
from console.kit.access.roles import ROLES, Right

PATTERN_LENGTH_MAX = 249
#: More stars than that say nothing more, and are slow to match.
STARS_MAX = 3


class Resource(StrEnum):
    TOPIC = "topic"
    GROUP = "group"
    PROCESS = "process"
    CLUSTER = "cluster"


class AccessLevel(StrEnum):
    """What a rule says of the names it matches."""

    VIEWER = "viewer"
    READER = "reader"
    OPERATOR = "operator"
    NOTHING = "nothing"

    @property
    def rights(self) -> frozenset[Right]:
        return ROLES.get(self.value, frozenset())


@dataclass(frozen=True, slots=True, order=True)
class AccessRule:
    """`pattern` is a name in which `*` stands for any text and `?` for one character; capitals count."""

    resource: Resource
    pattern: str
    level: AccessLevel

    def __str__(self) -> str:
        return f"{self.level} on {self.resource} {self.pattern}"


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything one person may do. `role` holds the rights of the person's roles; records of `internal` topics are for
    administrators, whatever rules say."""

    role: frozenset[Right]
    rules: tuple[AccessRule, ...] = ()
    internal: InternalTopics = BY_CONVENTION

    @property
    def is_unbound(self) -> bool:
        return Right.ADMINISTER in self.role

    def with_role_of(self, level: str) -> "Reach":
        """Return the reach with another role and the same rules; `nothing` leaves no rights."""
        return NOWHERE if level == AccessLevel.NOTHING else Reach(ROLES[level], self.rules, self.internal)

    def sees(self, resource: Resource, name: str) -> bool:
        """Return whether the person may view the object, without a database query."""
        return Right.VIEW in self._ruled_rights(resource, name)

    def rights_on(self, resource: Resource, name: str) -> frozenset[Right]:
        """Return the rights on the object. May query the database for internal topics."""
        rights = self._ruled_rights(resource, name)
        is_kept = resource is Resource.TOPIC and not self.is_unbound and Right.RECORDS in rights
        return rights - {Right.RECORDS} if is_kept and name in self.internal else rights

    def _ruled_rights(self, resource: Resource, name: str) -> frozenset[Right]:
        """Return the rights by role and rules, without the exceptions for internal topics."""
        if self.is_unbound:
            return self.role
        matching = [rule for rule in self._rules_of(resource) if matches(rule.pattern, name)]
        if any(rule.level is AccessLevel.NOTHING for rule in matching):
            return frozenset()
        return self._base(resource).union(*(rule.level.rights for rule in matching))

    def may_change_topic(self, name: str) -> bool:
        """Return whether its settings, partitions and records may be changed, and the topic deleted. Moving its
        replicas needs no more than OPERATE.
        """
        rights = self._ruled_rights(Resource.TOPIC, name)
        return Right.OPERATE in rights and (self.is_unbound or name not in self.internal)

    def rights_somewhere(self, resource: Resource) -> frozenset[Right]:
        """Return the rights held on at least some name."""
        return self._base(resource).union(*(rule.level.rights for rule in self._rules_of(resource)))

    @property
    def rights_anywhere(self) -> frozenset[Right]:
        return self.role.union(*(rule.level.rights for rule in self.rules))

    def is_limited(self, resource: Resource, right: Right = Right.VIEW) -> bool:
        """Return whether `right` may be missing on some name, which must then not be shown, or changed."""
        return not self.is_unbound and (right not in self._base(resource) or bool(self.taken_away(resource)))

    @property
    def is_limited_somewhere(self) -> bool:
        """Whether pushes to everybody may show this person too much."""
        return any(self.is_limited(item) for item in Resource)

    @property
    def sees_all_names(self) -> bool:
        """Whether no topic and no group is hidden from the person, so that texts that mention names may be shown."""
        return not (self.is_limited(Resource.TOPIC) or self.is_limited(Resource.GROUP))

    def holds_by_role(self, resource: Resource, right: Right) -> bool:
        return right in self._base(resource)

    def given(self, resource: Resource, right: Right) -> tuple[str, ...]:
        """Return the patterns of the rules that give `right`."""
        return tuple(rule.pattern for rule in self._rules_of(resource) if right in rule.level.rights)

    def taken_away(self, resource: Resource) -> tuple[str, ...]:
        return tuple(rule.pattern for rule in self._rules_of(resource) if rule.level is AccessLevel.NOTHING)

    def _rules_of(self, resource: Resource) -> list[AccessRule]:
        return [] if self.is_unbound else [rule for rule in self.rules if rule.resource is resource]

    def _base(self, resource: Resource) -> frozenset[Right]:
        """Return the rights on the cluster itself; any right includes viewing it: Kafka tells its brokers to every
        client too.
        """
        if resource is Resource.CLUSTER and Right.VIEW in self.rights_anywhere:
            return self.role | {Right.VIEW}
        return self.role


#: For what is drawn for nobody in particular: pushes to those whose reach is not limited, metrics.
EVERYTHING = Reach(frozenset(Right))
NOWHERE = Reach(frozenset())

"""What files declare: topics, access rules, quotas, groups and connectors, each with its place in them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.kit.access.reach import matches
from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.quotas.interface import QuotaEntity

#: Of all files together: a plan of them is made while somebody waits.
OBJECTS_MAX = 2_000


@dataclass(frozen=True, slots=True)
class SourceLine:
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.file else f"line {self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that cannot be meant: where, and what to change."""

    place: SourceLine
    sentence: str

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}"


class DeclarationError(Exception):
    """`problems` are the first of them."""

    def __init__(self, problems: tuple[Problem, ...]):
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class DeclaredTopic:
    """A declared topic. None: undeclared, left as it is. A setting of None removes the topic's own value."""

    name: str
    place: SourceLine
    partitions: int | None = None
    replication_factor: int | None = None
    settings: Mapping[str, str | None] = field(default_factory=dict)
    is_absent: bool = False
    #: After a day of grace.
    is_absent_later: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredRules:
    """One entry of `acls`: a rule for each of its operations."""

    rules: tuple[AclRule, ...]
    place: SourceLine
    is_absent: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredQuota:
    """A value that is None: there is no quota of that kind."""

    entity: QuotaEntity
    values: Mapping[str, float | None]
    place: SourceLine


@dataclass(frozen=True, slots=True)
class DeclaredGroup:
    """`starts`: topic → earliest or latest, where the group begins that has committed nothing there."""

    name: str
    place: SourceLine
    starts: Mapping[str, str] = field(default_factory=dict)
    is_absent: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredConnector:
    """`config` is all of it; a value that is masked stays what it is."""

    name: str
    place: SourceLine
    config: Mapping[str, str] = field(default_factory=dict)
    is_absent: bool = False


#: What a scope can be of, and what its patterns are compared with.
SCOPES = {
    "topics": "the name of a topic",
    "groups": "the name of a consumer group",
    "connectors": "the name of a connector",
    "principals": "the principal of an access rule",
    "quotas": "the user of a quota; without one the client id, or the address",
}


@dataclass(frozen=True, slots=True)
class ClusterDeclaration:
    topics: tuple[DeclaredTopic, ...] = ()
    acls: tuple[DeclaredRules, ...] = ()
    quotas: tuple[DeclaredQuota, ...] = ()
    groups: tuple[DeclaredGroup, ...] = ()
    connectors: tuple[DeclaredConnector, ...] = ()
    #: Kind → patterns of names. What is not declared of them is taken away, if that is asked for.
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def within(self, kind: str, name: str) -> bool:
        """Return whether it would be taken away if it were not declared."""
        return any(matches(pattern, name) for pattern in self.scope.get(kind, ()))


def name_in_scope(entity: QuotaEntity) -> str:
    """Return the name for patterns of the scope `quotas`; empty for the default of all."""
    named = dict(entity.parts)
    return next((name for kind in ("user", "client-id", "ip") if (name := named.get(kind))), "")

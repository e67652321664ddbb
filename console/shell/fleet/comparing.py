"""Two clusters laid beside each other: what is in one and not in the other, and what is set differently. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

#: Object → property → value; an object that has nothing to be compared by has no properties.
Section = Mapping[str, Mapping[str, str]]

TOPICS, GROUPS, RULES, SETTINGS = "topic", "group", "access rule", "broker setting"
THERE, NOT_THERE = "there", "not there"
#: Each broker has its own, or each cluster: a difference says nothing.
INDIVIDUAL = frozenset(
    {
        *("broker.id", "node.id", "broker.rack", "listeners", "advertised.listeners", "advertised.host.name"),
        *("advertised.port", "host.name", "port", "control.plane.listener.name", "log.dir", "log.dirs"),
        *("zookeeper.connect", "controller.quorum.voters", "controller.quorum.bootstrap.servers", "metadata.log.dir"),
    }
)


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What is known of one cluster. `missing`: sections of which nothing is known, and why."""

    sections: Mapping[str, Section] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, order=True)
class ClusterDifference:
    """`what` is empty where it is about whether the object is there at all."""

    section: str
    name: str
    what: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        return self.left != self.right


def compare(left: ClusterFacts, right: ClusterFacts) -> list[ClusterDifference]:
    """Compare both clusters, without sections that one of them does not report."""
    known = [section for section in left.sections if section in right.sections]
    return [row for section in known for row in _rows(section, left.sections[section], right.sections[section])]


def _rows(section: str, left: Section, right: Section) -> Iterator[ClusterDifference]:
    for name in sorted(left.keys() | right.keys()):
        if name not in left or name not in right:
            yield ClusterDifference(
                section, name, "", THERE if name in left else NOT_THERE, THERE if name in right else NOT_THERE
            )
            continue
        here, there = left[name], right[name]
        if not here and not there:
            yield ClusterDifference(section, name, "", THERE, THERE)
        for what in sorted(here.keys() | there.keys()):
            yield ClusterDifference(section, name, what, here.get(what, NOT_THERE), there.get(what, NOT_THERE))


def of_all_brokers(values: Mapping[int, str | None]) -> str:
    """Return the brokers' value of a setting once if all agree, otherwise each broker's."""
    distinct = set(values.values())
    if len(distinct) == 1:
        return distinct.pop() or ""
    return ", ".join(f"{broker_id}: {value or ''}" for broker_id, value in sorted(values.items()))

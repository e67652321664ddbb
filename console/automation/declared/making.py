"""What a declaration comes to now, for one person: every plan there is to be made, in the order of carrying out."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from django.contrib.auth.models import User

from console.automation.declared.access_parts import quota_parts, rule_parts
from console.automation.declared.connector_parts import connector_parts, pruned_connectors
from console.automation.declared.declaration import ClusterDeclaration
from console.automation.declared.group_parts import group_parts, pruned_groups
from console.automation.declared.now import ClusterNow
from console.automation.declared.parts import DeclaredPlan, PlannedPart, Prune, Unplanned
from console.automation.declared.topic_parts import pruned_topics, topic_parts
from console.kit.gateway.errors import GatewayError

Step = Iterator[PlannedPart | Unplanned | str]
NO_SCOPE = (
    "Nothing says what may be deleted: the files need a scope, as `scope: {topics: shop.*}`, before what is not "
    "declared is taken away."
)


def make(person: User, declaration: ClusterDeclaration, prune: Prune) -> DeclaredPlan:
    """Plan the declaration. What a service that does not answer would have to tell is left out, with a sentence. Never
    raises GatewayError.

    What is used goes last: a topic outlives the connectors and groups that read it, and is there before them.
    """
    if prune and not declaration.scope:
        return DeclaredPlan((), (Unplanned("declaration", NO_SCOPE),))
    now = ClusterNow()
    return _collected(_steps(person, declaration, now, prune))


def _steps(
    person: User, declaration: ClusterDeclaration, now: ClusterNow, prune: Prune
) -> Iterable[tuple[str, Callable[[], Step]]]:
    prunes = prune is not Prune.NO

    def pruned(kind: str, parts: Callable[[User, ClusterDeclaration, ClusterNow], Step]) -> Step:
        if prunes and kind in declaration.scope:
            yield from parts(person, declaration, now)

    def topics(is_absent: bool) -> Step:
        chosen = [topic for topic in declaration.topics if topic.is_absent is is_absent]
        there = now.topics if chosen else {}
        now.ask_settings([item.name for item in chosen if item.settings and item.name in there])
        for topic in chosen:
            yield from topic_parts(person, topic, now, prunes=prunes and declaration.within("topics", topic.name))

    def groups(is_absent: bool) -> Step:
        coming = {
            topic.name: topic.partitions for topic in declaration.topics if topic.partitions and not topic.is_absent
        }
        for group in declaration.groups:
            if group.is_absent is is_absent:
                yield from group_parts(person, group, now, coming)

    def connectors(is_absent: bool) -> Step:
        for connector in declaration.connectors:
            if connector.is_absent is is_absent:
                yield from connector_parts(person, connector, now)

    return (
        ("connectors", lambda: connectors(True)),
        ("connectors", lambda: pruned("connectors", pruned_connectors)),
        ("topics", lambda: topics(False)),
        ("access lists", lambda: rule_parts(person, declaration, now, prunes=prunes)),
        ("quotas", lambda: quota_parts(person, declaration, now, prunes=prunes)),
        ("groups", lambda: groups(False)),
        ("connectors", lambda: connectors(False)),
        ("groups", lambda: groups(True)),
        ("groups", lambda: pruned("groups", pruned_groups)),
        ("topics", lambda: topics(True)),
        ("topics", lambda: pruned("topics", partial(pruned_topics, is_later=prune is Prune.LATER))),
    )


def _collected(steps: Iterable[tuple[str, Callable[[], Step]]]) -> DeclaredPlan:
    parts: list[PlannedPart] = []
    unplanned: dict[Unplanned, None] = {}
    notes: list[str] = []
    for kind, step in steps:
        try:
            for part in step():
                if isinstance(part, PlannedPart):
                    parts.append(part)
                elif isinstance(part, Unplanned):
                    unplanned[part] = None
                else:
                    notes.append(part)
        except GatewayError as error:
            unplanned[Unplanned(kind, str(error))] = None
    return DeclaredPlan(tuple(parts), tuple(unplanned), tuple(notes))

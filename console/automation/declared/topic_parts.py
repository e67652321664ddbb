"""What of a declared topic is not so yet, as the plans of its own pages."""

from collections.abc import Iterable, Iterator, Mapping

from django.contrib.auth.models import User

from console.automation.declared.declaration import ClusterDeclaration, DeclaredTopic
from console.automation.declared.now import ClusterNow, is_kafkas_own
from console.automation.declared.parts import PlannedPart, Unplanned
from console.cluster.placement.actions import do_move
from console.cluster.placement.move import FACTOR
from console.cluster.placement.moving import factor_proposal, planned
from console.cluster.retention.actions import do_change_retention
from console.cluster.retention.outlook import retention_facts
from console.cluster.retention.plan import differences
from console.cluster.topics.actions import do_add_partitions, do_change_settings, do_create_topic, do_delete_topic
from console.cluster.topics.creation import CreationPlan, Wish, creation_plan
from console.cluster.topics.creation_check import refusals_of
from console.cluster.topics.deletion import deletion_plan
from console.cluster.topics.enlargement import enlargement_plan
from console.cluster.topics.forms import CreateTopicForm
from console.cluster.topics.grace_actions import do_call_off, do_delete_later
from console.cluster.topics.grace_plans import calling_off, deletion_later
from console.cluster.topics.grace_queries import open_of
from console.cluster.topics.queries import doomed, groups_of
from console.cluster.topics.settings_plan import RETENTION_KEYS, settings_plan
from console.kit.access.internal_names import ONLY_ADMINISTRATORS
from console.kit.access.reach import Reach, Resource
from console.kit.access.rights import Right, has_right, reach_of
from console.kit.common.current_cluster import here
from console.kit.gateway.connect import cluster_gateway
from console.kit.gateway.errors import RefusedError
from console.kit.gateway.interface import TopicView
from console.kit.gateway.moves.interface import REPLICA_KEYS
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.plan import Confirmation
from console.kit.plans.setting import DEFAULT
from console.state.clusters.models import Broker, Topic

NOT_SEEN = "The console has not looked at it yet: try again in a moment."
_BEYOND = "Your rights do not reach a topic of this name."
_NOT_YOURS = "You may look at it, and not change it."

Found = Iterator[PlannedPart | Unplanned]


def topic_parts(person: User, declared: DeclaredTopic, now: ClusterNow, *, prunes: bool) -> Found:
    """Return the topics' parts. `prunes`: undeclared own settings are removed, too. Raises GatewayError."""
    rights, view = reach_of(person).rights_on(Resource.TOPIC, declared.name), now.topics.get(declared.name)
    refusal = _refusal(person, declared.name)
    words = f"topic {declared.name}"
    if Right.VIEW not in rights:
        yield Unplanned(words, _BEYOND)
    elif is_kafkas_own(declared.name, view):
        yield Unplanned(words, "It is Kafka's own, and nothing to be declared.")
    elif declared.is_absent:
        if view is not None and declared.is_absent_later:
            yield from _later(person, declared.name, now, refusal)
        elif view is not None:
            yield deletion_part(person, declared.name, refusal)
    elif view is None:
        yield _creation(person, declared, refusal)
    else:
        if declared.name in open_of([declared.name]):
            yield _staying(declared.name, refusal)
        yield from _changes(person, declared, view, now, refusal, prunes)


def _refusal(person: User, name: str) -> str:
    """Return why `person` may not change the topic; empty: it may be changed."""
    reach = reach_of(person)
    if Right.OPERATE not in reach.rights_on(Resource.TOPIC, name):
        return _NOT_YOURS
    return "" if reach.may_change_topic(name) else ONLY_ADMINISTRATORS


def pruned_topics(person: User, declaration: ClusterDeclaration, now: ClusterNow, *, is_later: bool) -> Found:
    """Return deletions of undeclared topics in scope that this person can see. Raises GatewayError."""
    names, reach = {topic.name for topic in declaration.topics}, reach_of(person)
    for name, view in now.topics.items():
        rights = reach.rights_on(Resource.TOPIC, name)
        is_meant = name not in names and declaration.within("topics", name) and not is_kafkas_own(name, view)
        refusal = _refusal(person, name)
        if is_meant and Right.VIEW in rights and is_later:
            yield from _later(person, name, now, refusal)
        elif is_meant and Right.VIEW in rights:
            yield deletion_part(person, name, refusal)


def deletion_part(person: User, name: str, refusal: str) -> PlannedPart | Unplanned:
    row = Topic.objects.filter(name=name).first()
    if row is None:
        return Unplanned(f"topic {name}", NOT_SEEN)
    plan = deletion_plan(doomed(row, reach_of(person)), here.BOOTSTRAP_SERVERS)

    def again() -> PlannedPart:
        made = deletion_part(person, name, refusal)
        assert isinstance(made, PlannedPart)
        return made

    return PlannedPart(plan, lambda actor, confirmation: do_delete_topic(actor, plan, confirmation), refusal, again)


def _later(person: User, name: str, now: ClusterNow, refusal: str) -> Found:
    """Return the planned deletion; nothing where it is planned already; a kept one is planned again. Raises
    GatewayError.
    """
    row, planned = Topic.objects.filter(name=name).first(), open_of([name]).get(name)
    if row is None:
        yield Unplanned(f"topic {name}", NOT_SEEN)
    elif planned is None or planned.is_kept:
        later = deletion_later([row], reach_of(person), now.all_groups)

        def do(actor: User, confirmation: Confirmation) -> None:
            do_delete_later(actor, later.plan, later.topics, later.traces, confirmation)

        yield PlannedPart(later.plan, do, refusal)


def _staying(name: str, refusal: str) -> PlannedPart:
    """Return a part that calls off the planned deletion of a declared topic."""
    plan = calling_off([name])
    return PlannedPart(plan, lambda actor, confirmation: do_call_off(actor, plan, confirmation), refusal)


def _creation(person: User, declared: DeclaredTopic, refusal: str) -> PlannedPart | Unplanned:
    words = f"topic {declared.name}"
    counts = {"partition_count": declared.partitions, "replication_factor": declared.replication_factor}
    if None in counts.values():
        return Unplanned(words, "It is not there: declare its partitions and replication_factor, and it is created.")
    form = CreateTopicForm(person, {"name": declared.name, **counts})
    if not refusal and not form.is_valid():
        return Unplanned(words, " ".join(str(error) for errors in form.errors.values() for error in errors))
    own = {name: value for name, value in declared.settings.items() if value is not None}
    wish = Wish(declared.name, declared.partitions or 0, declared.replication_factor or 0, own)
    brokers = list(Broker.objects.filter(is_registered=True).values_list("broker_id", flat=True))
    if not refusal and (refused := refusals_of(wish)):
        return Unplanned(words, " ".join(refused))
    plan = creation_plan(wish, brokers, here.BOOTSTRAP_SERVERS)
    return PlannedPart(plan, lambda actor, confirmation: _created(actor, plan, confirmation), refusal)


def _changes(
    person: User, declared: DeclaredTopic, view: TopicView, now: ClusterNow, refusal: str, prunes: bool
) -> Found:
    reach = reach_of(person)
    if declared.partitions not in (None, len(view.partitions)):
        yield _enlargement(declared, view, reach, refusal)
    factors = {len(partition.replicas) for partition in view.partitions}
    if declared.replication_factor is not None and factors != {declared.replication_factor}:
        yield _replication(person, declared.name, declared.replication_factor, refusal)
    if declared.settings or prunes:
        yield from _settings(declared, view, now, reach, refusal, prunes)


def _enlargement(declared: DeclaredTopic, view: TopicView, reach: Reach, refusal: str) -> PlannedPart | Unplanned:
    row = Topic.objects.filter(name=declared.name).first()
    if row is None:
        return Unplanned(f"topic {declared.name}", NOT_SEEN)
    row.partition_count = len(view.partitions)
    group_count = len(groups_of(declared.name, reach))
    plan = enlargement_plan(row, declared.partitions or 0, group_count, here.BOOTSTRAP_SERVERS)
    return PlannedPart(plan, lambda actor, confirmation: do_add_partitions(actor, plan, confirmation), refusal)


def _replication(person: User, name: str, factor: int, refusal: str) -> PlannedPart | Unplanned:
    """Return a change of the replication factor, by the moves that the placement page would propose."""
    proposal = factor_proposal(name, factor)
    if not proposal.targets:
        why = (
            "; ".join(sorted(set(proposal.stuck.values()))) or "its replicas are being reassigned, or were not seen yet"
        )
        return Unplanned(f"topic {name}", f"Its replication factor cannot become {factor} now: {why}.")
    move = planned(proposal.targets)
    plan = move.as_plan(here.BOOTSTRAP_SERVERS, FACTOR)
    if not has_right(person, Right.OPERATE):
        refusal = refusal or "To move replicas needs the role operator."
    return PlannedPart(plan, lambda actor, confirmation: do_move(actor, plan, move, confirmation)[0], refusal)


def _settings(
    declared: DeclaredTopic, view: TopicView, now: ClusterNow, reach: Reach, refusal: str, prunes: bool
) -> Found:
    settings = now.settings(declared.name)
    wanted = {name: DEFAULT if value is None else value for name, value in declared.settings.items()}
    if prunes:
        own = (view.name for view in settings if view.source == "topic" and view.name not in REPLICA_KEYS)
        wanted = dict.fromkeys(own, DEFAULT) | wanted
    if unknown := sorted(wanted.keys() - {item.name for item in settings}):
        yield Unplanned(f"topic {declared.name}", f"There is no setting {unknown[0]} of a topic.")
        return
    pairs = [(name, value) for name, value in sorted(wanted.items()) if name not in RETENTION_KEYS]
    factor = len(view.partitions[0].replicas) if view.partitions else 0
    plan = settings_plan(declared.name, factor, settings, pairs, here.BOOTSTRAP_SERVERS, view.topic_id)
    changes = _changes_of(settings, wanted)
    if changes and not refusal and (why := _refusal_by_cluster(declared.name, changes)):
        yield Unplanned(f"topic {declared.name}", why)
        return
    if plan is not None and plan.lines:
        yield PlannedPart(plan, lambda actor, confirmation: do_change_settings(actor, plan, confirmation), refusal)
    retention = {name: value for name, value in wanted.items() if name in RETENTION_KEYS}
    if differences(settings, retention):
        yield _retention(view, retention, reach, refusal)


def _changes_of(views: Iterable[SettingView], wanted: Mapping[str, str]) -> dict[str, str | None]:
    """Return the settings that are not as `wanted`, None for one that goes back to the default."""
    own = {setting.name: setting.value for setting in views if setting.source == "topic"}
    changes = {name: None if value == DEFAULT else value for name, value in wanted.items()}
    return {name: value for name, value in changes.items() if own.get(name) != value}


def _refusal_by_cluster(topic: str, changes: Mapping[str, str | None]) -> str:
    """Return why the cluster does not take these settings; empty: it does. Raises GatewayError of a silent cluster."""
    try:
        cluster_gateway().check_topic_settings(topic, changes)
    except RefusedError as error:
        return f"{str(error).rstrip('.')}."
    return ""


def _retention(view: TopicView, wanted: dict[str, str], reach: Reach, refusal: str) -> PlannedPart:
    plan = retention_facts(view.name, view.topic_id, wanted, reach)["plan"]
    again = (lambda: _retention(view, wanted, reach, refusal)) if plan.losses else None
    return PlannedPart(plan, lambda actor, confirmation: do_change_retention(actor, plan, confirmation), refusal, again)


def _created(actor: User, plan: CreationPlan, confirmation: Confirmation) -> None:
    do_create_topic(actor, plan, confirmation)

"""What a digest stands for: this change, all of it, for this person; walked over everything that makes plans."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from broker.zookeeper.ensemble_config import parse_config
from console.automation.decommission.plan import decommission_plan
from console.automation.rolling_restart.plan import OFFLINE, REFUSES, PlannedRestart, ReplicaGap, RestartPlan
from console.cluster.brokers.plan import setting_target
from console.cluster.placement.cancel import CalledOff, CancelPlan
from console.cluster.placement.election import ElectionPlan, LeaderMove
from console.cluster.placement.move import DRAIN, MOVE, MovePlan, PartitionMove
from console.cluster.retention.plan import SettingDifference
from console.cluster.retention.plan import change_plan as retention_plan
from console.cluster.topics.creation import Wish, creation_plan
from console.cluster.topics.deletion import DoomedTopic, deletion_plan, undo_creation_plan
from console.cluster.topics.enlargement import enlargement_plan
from console.cluster.topics.grace import Traces, call_off_plan, later_plan
from console.cluster.topics.settings_plan import topic_target
from console.cluster.zookeeper.ensemble import EnsembleChangeKind, Server
from console.cluster.zookeeper.plan import EnsembleNow, plan_change
from console.ecosystem.streams.checkpoint_plan import EARLIEST, LATEST, CheckpointLoss, start_plan
from console.ecosystem.streams.checkpoint_plan import reset_plan as checkpoint_plan
from console.ecosystem.streams.submission import Submission, SubmissionFacts, submission_plan
from console.kit.access.reach import AccessLevel, AccessRule, Resource
from console.kit.access.read_only import CLUSTER, CONSOLE, ReadOnly
from console.kit.gateway.brokers.interface import BrokerSetting
from console.kit.gateway.groups.interface import GroupView, OffsetBounds
from console.kit.gateway.moves.interface import MoveView
from console.kit.gateway.retention.interface import SettingView
from console.kit.plans.digest import DIGEST_LENGTH, digest_of
from console.kit.plans.plan import Plan, PlanLine
from console.kit.plans.setting import SettingChange as SettingChange
from console.kit.plans.setting import change_plan as setting_plan
from console.people.readonly.plan import switch_plan
from console.people.users.plan import change_plan as account_plan
from console.people.users.plan import creation_plan as account_creation_plan
from console.people.users.plan import end_logins_plan, password_plan
from console.people.users.queries import UserRights
from console.processes.addition import AdditionFacts, addition_plan
from console.processes.consequences import Consequence
from console.processes.ending import KILL, RESTART, STOP, ending_plan
from console.processes.removal import removal_plan
from console.processes.topic_users import TopicUsage
from console.state.clusters.models import Topic
from console.state.consumers.removal import delete_plan, forget_plan, forgotten
from console.state.consumers.reset import OffsetMove as OffsetMove
from console.state.consumers.reset import Reset, reset_plan

ADA = SimpleNamespace(pk=1)
PLAN = Plan("rename", "thing", "lamp", (PlanLine("colour", "red", "blue"),), ("colour=red",))


@dataclass(frozen=True)
class AnotherKind:
    confirmed: object


def test_a_digest_is_one_persons():
    digests = {digest_of(PLAN, user) for user in (ADA, SimpleNamespace(pk=2), None)}
    assert len(digests) == 3
    assert {len(digest) for digest in digests} == {DIGEST_LENGTH}


def test_a_digest_hangs_on_the_secret_key(settings):
    before = digest_of(PLAN, ADA)
    settings.SECRET_KEY = "another"
    assert digest_of(PLAN, ADA) != before


def test_plans_of_different_kinds_share_no_digest():
    assert digest_of(AnotherKind(PLAN.confirmed), ADA) != digest_of(PLAN, ADA)


def test_texts_do_not_run_into_each_other():
    one, other = (replace(PLAN, read=read) for read in (("ab", "c"), ("a", "bc")))
    assert digest_of(one, ADA) != digest_of(other, ADA)


def topic_setting(name="segment.ms", value="1", source="default", own=None, typed="2", topic="orders"):
    return setting_plan(topic_target(topic), [SettingChange(SettingView(name, value, source), own, typed)], "")


def broker_setting(broker_id=1, value="2"):
    setting = BrokerSetting("message.max.bytes", "1", "default")
    return setting_plan(setting_target(broker_id, setting, {}), [SettingChange(setting, None, value)], "")


def retention(topic="orders", value="1", source="topic", new="2", loses=False, name="retention.ms"):
    changes = [SettingDifference(name, value, source, new)]
    return retention_plan(topic, [SettingView(name, value, source)], changes, loses, "")


DOOMED = DoomedTopic("orders", "id", 3, 2, 100, 1_000, 5.0, False, ("g",))
TRACES = {"orders": Traces("id", (1, 2, 3), {"g": 4})}
NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
GROUP = GroupView("g", "Empty", "consumer", 1, (), {("orders", 0): 5})


def topic_created(name="orders", partitions=3, factor=2, brokers=(1, 2)):
    return creation_plan(Wish(name, partitions, factor), brokers, "")


def topic_enlarged(name="orders", topic_id="id", partitions=3, wanted=5):
    topic = Topic(name=name, topic_id=topic_id, partition_count=partitions, replication_factor=2)
    return enlargement_plan(topic, wanted, 1, "")


def offsets(new=7, place=("orders", 0), old=5, action="reset offsets", **group):
    reset = Reset((OffsetMove(place, old, new, OffsetBounds(0, 9)),), ())
    return reset_plan(replace(GROUP, **group), reset, "", action)


def group_deleted(**changed):
    group = replace(GROUP, **changed)
    return delete_plan(group, forgotten(group), "")


def offsets_forgotten(topic="orders", **changed):
    group = replace(GROUP, **changed)
    return forget_plan(group, topic, forgotten(group, topic), "")


def moved(topic="orders", partition=0, old=(1, 2), new=(2, 3), rate=None):
    return MovePlan((PartitionMove(topic, partition, old, new),), (), "", (), (), rate)


def placement(action=MOVE, **changed):
    return moved(**changed).as_plan("", action)


def elected(topic="orders", partition=0, leader=1, preferred=2):
    return ElectionPlan((LeaderMove(topic, partition, leader, preferred),), (), ()).as_plan("")


def called_off(place=("orders", 0), replicas=(1, 2, 3), adding=(3,), removing=(1,)):
    return CancelPlan((CalledOff(place, MoveView(replicas, adding, removing), 5),)).as_plan("")


def process(**changed):
    facts = {"name": "broker-3", "spec": {"a": 1}, "pid": 5, "state": "running", "data_dir": "/d", "kind": "broker"}
    return SimpleNamespace(**(facts | {"is_leaving": False, "run_token": "t", "grace_s": 20} | changed))


def removed(holds=(), unknown="", **changed):
    return removal_plan(process(**changed), holds, unknown)


def ended(action=STOP, harms=(), confirmed=(), **changed):
    return ending_plan(action, process(**changed), Consequence((), harms, confirmed))


def decommissioned(stuck=(), name="broker-3", **changed):
    return decommission_plan(process(name=name), moved(**changed), dict.fromkeys(stuck, "Too few."), "")


SPEC = {
    "broker_id": 4,
    "port": 9095,
    "metrics_port": 9195,
    "directory": "/data/broker-4",
    "log_dirs": ["/data/a"],
    "rack": "east",
    "zookeeper": "zk:2181",
    "first_properties": {"a": "1"},
}
NOTHING_THERE = AdditionFacts((), {}, (), {})
STREAM = Submission("counts", "/data/streams/counts", {"job": "dedupe"}, ("in",), ("out",))
NO_STREAMS = SubmissionFacts((), ("in", "out"), {}, 3, 0, False)


def broker_added(listening=(), **changed):
    return addition_plan(SPEC | changed, replace(NOTHING_THERE, listening=listening))


def stream_added(has_checkpoint=False, **changed):
    return submission_plan(replace(STREAM, **changed), replace(NO_STREAMS, has_checkpoint=has_checkpoint))


def started_after_loss(name="counts", topic="orders", position=5, log_start=9):
    return start_plan(name, [CheckpointLoss(topic, 0, position, log_start)], True)


def checkpoint_reset(name="counts", position=5, target=EARLIEST, obstacle=""):
    return checkpoint_plan(name, {("orders", 0): position}, target, ({("orders", 0): 2}, {("orders", 0): 9}), obstacle)


def server(number: int, **changed) -> Server:
    ports = {"client_port": 2180 + number, "quorum_port": 2887 + number, "election_port": 3887 + number}
    return Server(number, f"zookeeper-{number}", "127.0.0.1", **(ports | changed))


def ensemble(kind=EnsembleChangeKind.REPLACE, version=5, replaced=2, leader=1, **offered):
    lines = [*(server(number).line for number in (1, 2, 3)), f"version={version:x}"]
    present = EnsembleNow(parse_config("\n".join(lines)), frozenset((1, 2, 3)), leader, frozenset((1, 2, 3)))
    return plan_change(kind, present, (server(4, **offered),), replaced).plan


def restarted(name="broker-1", topic="orders", meaning=OFFLINE, away=(), doubt=""):
    return RestartPlan((PlannedRestart(name, 1, False, 5, (ReplicaGap(topic, 0, 1, meaning),)),), away, doubt).as_plan()


def account_created(name="ada", role="viewer"):
    return account_creation_plan(name, UserRights(role, True, ()))


def read_only_switched(scope=CONSOLE, by_name="", reason=""):
    return switch_plan(scope, ReadOnly(scope, by_name, None, reason) if by_name else None)


#: Each maker of plans, and what may differ between the plan that was shown and the one that is to be carried out.
MAKERS = [
    (topic_setting, {"name", "value", "source", "own", "typed", "topic"}),
    (broker_setting, {"value", ("broker_id", None), ("broker_id", 2)}),
    (retention, {"topic", "value", "new", ("new", None), ("source", "default"), ("loses", True)}),
    (topic_created, {"name", ("partitions", 4), ("factor", 1), ("brokers", (1, 2, 3))}),
    (topic_enlarged, {"name", "topic_id", ("partitions", 4), ("wanted", 6)}),
    (offsets, {"action", "group_id", "state", ("new", 8), ("new", None), ("old", 4), ("place", ("orders", 1))}),
    (group_deleted, {"group_id", "state"}),
    (offsets_forgotten, {"topic", "group_id"}),
    (placement, {"topic", ("action", DRAIN), ("partition", 1), ("old", (1, 4)), ("new", (3, 2)), ("rate", 5)}),
    (elected, {"topic", ("partition", 1), ("leader", 3), ("preferred", 3)}),
    (called_off, {("place", ("b", 0)), ("replicas", (2, 1, 3)), ("adding", (2, 3)), ("removing", ())}),
    (decommissioned, {"name", "topic", ("new", (2, 4)), ("rate", 5), ("stuck", (("b", 0),))}),
    (broker_added, {"directory", "rack", "zookeeper", ("broker_id", 5), ("port", 1), ("metrics_port", 1)}),
    (removed, {"name", "spec", "unknown", ("pid", None), ("holds", ("orders-0",))}),
    (ended, {"name", "run_token", ("pid", 6), ("harms", ("a-0",)), ("confirmed", ("a-0",)), ("action", RESTART)}),
    (stream_added, {"name", "directory", ("has_checkpoint", True)}),
    (started_after_loss, {"name", "topic", ("position", 4), ("log_start", 8)}),
    (checkpoint_reset, {"name", "obstacle", ("position", 6), ("target", LATEST)}),
    (
        ensemble,
        {
            "directory",
            ("kind", EnsembleChangeKind.GROW),
            ("version", 6),
            ("replaced", 3),
            ("leader", 3),
            ("client_port", 1),
        },
    ),
    (restarted, {"name", "topic", "doubt", ("meaning", REFUSES), ("away", (3,))}),
    (account_created, {"name", ("role", "admin")}),
    (read_only_switched, {"by_name", ("scope", CLUSTER)}),
    (
        lambda **changed: deletion_plan(replace(DOOMED, **changed), ""),
        {
            "name",
            "topic_id",
            ("uses", (TopicUsage("job reads it", True),)),
            ("hidden_groups", frozenset({7})),
            ("groups", ("g", "h")),
        },
    ),
    (
        lambda **changed: later_plan([replace(DOOMED, **changed)], TRACES, NOON, "", ""),
        {
            "topic_id",
            ("uses", (TopicUsage("job reads it", False),)),
            ("hidden_groups", frozenset({7})),
            ("groups", ("g", "h")),
        },
    ),
    (lambda **changed: call_off_plan({"orders": "", **changed}, ["1 id waiting"]), {"other"}),
    (lambda **changed: undo_creation_plan(replace(DOOMED, **changed), {}, ""), {"name", "topic_id", ("groups", ())}),
    # What sets and mappings hold cannot stand in the sets above.
    (lambda value=1: broker_added(log_dirs=[f"/data/{value}"]), {"value"}),
    (lambda value=1: broker_added(first_properties={"a": value}), {"value"}),
    (lambda value=1: broker_added(listening=(9_095,) if value == 1 else ()), {"value"}),
    (lambda value=1: stream_added(properties={"job": value}), {"value"}),
    (lambda value=1: group_deleted(committed={("orders", value): 5}), {("value", 2)}),
    (lambda value=1: offsets_forgotten(committed={("orders", 0): value}), {("value", 2)}),
]


@pytest.mark.parametrize(("make", "changes"), MAKERS)
def test_whatever_differs_from_what_was_shown_gives_another_digest(make, changes):
    shown = digest_of(make(), ADA)
    pairs = [(change, "another") if isinstance(change, str) else change for change in changes]
    others = {digest_of(make(**{name: value}), ADA) for name, value in pairs}

    assert digest_of(make(), ADA) == shown
    assert shown not in others
    assert len(others) == len(changes)


def test_what_goes_on_changing_by_itself_keeps_the_digest():
    assert digest_of(later_plan([DOOMED], TRACES, NOON, "", ""), ADA) == digest_of(
        later_plan([DOOMED], TRACES, NOON + timedelta(minutes=9), "", ""), ADA
    )
    grown = replace(DOOMED, record_count=101, size_bytes=2_000, records_per_second=0.5)
    assert digest_of(deletion_plan(grown, ""), ADA) == digest_of(deletion_plan(DOOMED, ""), ADA)
    assert digest_of(ended(KILL, state="in trouble"), ADA) == digest_of(ended(KILL), ADA)


def test_what_differs_between_accounts_gives_another_digest(viewer, operator):
    rule = AccessRule(Resource.TOPIC, "a*", AccessLevel.NOTHING)
    plans = [
        account_plan(viewer, UserRights("viewer", True, (rule,))),
        account_plan(operator, UserRights("viewer", True, (rule,))),
        account_plan(viewer, UserRights("viewer", False, (rule,))),
        account_plan(viewer, UserRights("admin", True, (rule,))),
        account_plan(viewer, UserRights("viewer", True, (replace(rule, pattern="b*"),))),
        account_plan(viewer, UserRights("viewer", True, (replace(rule, level=AccessLevel.VIEWER),))),
        *(make(user) for make in (password_plan, end_logins_plan) for user in (viewer, operator)),
    ]
    assert len({digest_of(plan, ADA) for plan in plans}) == len(plans)

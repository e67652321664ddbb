"""Plans that were called safe, though data, availability or access is lost by them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from console.automation.rolling_restart.plan import OFFLINE, PlannedRestart, ReplicaGap, RestartPlan
from console.cluster.brokers.plan import setting_target
from console.cluster.client_metrics.plan import change_plan as metrics_plan
from console.cluster.placement.move import PlacementFacts, plan_moves
from console.cluster.records.copying import CopyTarget, copy_plan
from console.cluster.topics.enlargement import enlargement_plan
from console.cluster.topics.many import TopicEdit, setting_of_many
from console.cluster.topics.settings_plan import settings_plan
from console.ecosystem.connectors.answers import OffsetView
from console.ecosystem.connectors.plan import ConnectorChange, configuration_plan, offsets_plan
from console.kit.access.internal_names import BY_CONVENTION
from console.kit.access.models import ApiToken
from console.kit.gateway.brokers.interface import BrokerSetting
from console.kit.gateway.client_metrics.interface import ClientMetricsSubscription
from console.kit.gateway.groups.interface import GroupView
from console.kit.gateway.records.interface import RecordView
from console.kit.gateway.retention.interface import SettingView
from console.people.users.plan import change_plan, end_logins_plan, password_plan
from console.people.users.queries import user_rights_of
from console.shell.changes.rule_plan import rule_plan as change_rule_plan
from console.shell.fleet.plan import keep_plan
from console.signals.alerts.rule_plan import rule_plan as alert_rule_plan
from console.state.clusters.models import Topic
from console.state.consumers.reset import reset_plan, reset_to

SERVERS = "localhost:9092"


def of_topic(name: str, value: str, replicas: int = 3):
    return settings_plan("orders", replicas, [SettingView(name, "1", "default")], [(name, value)], SERVERS, "id")


def test_more_partitions_break_the_order_of_keys_for_good():
    plan = enlargement_plan(Topic(name="orders", partition_count=3, replication_factor=1), 6, 0, SERVERS)
    assert "order of a key's records" in plan.losses[0]
    assert plan.tone == "critical"


def test_more_replicas_in_sync_than_there_are_stop_every_writer():
    assert "No acks=all producer can write" in of_topic("min.insync.replicas", "4").losses[0]
    plan = of_topic("min.insync.replicas", "3")
    assert (plan.losses, plan.safe_because) == ((), "")
    kept = TopicEdit("orders", "id", 3, SettingView("min.insync.replicas", "1", "default"), "4")
    assert "No acks=all producer can write" in setting_of_many([kept], SERVERS).losses[0]


def test_only_a_setting_that_is_known_to_be_harmless_is_called_safe():
    assert of_topic("compression.type", "zstd").tone == "ok"
    assert of_topic("message.timestamp.type", "LogAppendTime").tone == ""


@pytest.mark.parametrize(("value", "tells"), [("true", True), ("false", False)])
def test_an_unclean_leader_by_the_setting_of_a_broker_is_a_loss(value, tells):
    setting = BrokerSetting("unclean.leader.election.enable", "false", "default")
    assert bool(setting_target(None, setting, {}, value).losses) is tells


def test_a_move_to_fewer_replicas_loses_copies_and_one_to_as_many_none():
    world = PlacementFacts({("orders", 0): (1, 2, 3)}, {}, frozenset({1, 2, 3, 4}), {}, {}, {})
    fewer = plan_moves({("orders", 0): (1,)}, world).as_plan(SERVERS)
    assert "1 replicas instead of 3. With one copy its records are lost" in fewer.losses[0]
    same = plan_moves({("orders", 0): (1, 2, 4)}, world).as_plan(SERVERS)
    assert (same.losses, same.tone) == ((), "ok")


@pytest.mark.parametrize(
    ("key", "is_compacted", "loses"), [(b"k", True, True), (None, True, False), (b"k", False, False)]
)
def test_a_copy_into_a_compacted_topic_takes_the_place_of_its_key(key, is_compacted, loses):
    plan = copy_plan(
        "orders", RecordView(0, 7, 0, key, b"old"), CopyTarget("orders", 0, is_compacted), is_tombstone=False
    )
    assert bool(plan.losses) is loses


def test_a_commit_that_is_taken_away_is_a_place_that_is_forgotten():
    group = GroupView("readers", "Empty", "", 1, (), {("orders", 0): 5})
    plan = reset_plan(group, reset_to(group, {("orders", 0): None}, {}), "")
    assert plan.losses[0].startswith("The group's place in 1 partition is forgotten")


def test_offsets_of_a_connector_that_are_set_leave_out_what_lies_between():
    now = [OffsetView({"kafka_topic": "orders", "kafka_partition": 0}, {"kafka_offset": 5})]
    wanted = [OffsetView({"kafka_topic": "orders", "kafka_partition": 0}, {"kafka_offset": 500})]
    assert "left out for good" in offsets_plan("sink", now, wanted, "STOPPED", "http://connect").losses[0]


def test_a_secret_that_is_replaced_is_a_secret_that_is_lost():
    change = ConnectorChange(
        "sink", {"db.password": "a"}, {"db.password": "b"}, {"db.password"}, {"db.password": "print"}
    )
    assert "replaced secret cannot be put back" in configuration_plan(change, "http://connect", BY_CONVENTION).losses[0]
    plain = ConnectorChange("sink", {"topics": "a"}, {"topics": "b"}, (), {"topics": "print"})
    assert configuration_plan(plain, "http://connect", BY_CONVENTION).losses == ()
    assert (
        "passwords and keys of before" in keep_plan("east", {"title": "a"}, {"title": "a"}, {"password": "p"}).losses[0]
    )
    assert keep_plan("east", None, {"title": "a"}, {"password": "p"}).losses == ()


def test_a_rule_that_goes_is_a_safeguard_that_goes():
    assert "One person alone can then make" in change_rule_plan("night", {"kind": "freeze"}, {}, 1).losses[0]
    assert change_rule_plan("night", {}, {"kind": "freeze"}, 1).losses == ()
    assert "No channel gets a message" in alert_rule_plan("lag", {"measure": "group.lag"}, {}, []).losses[0]


def test_only_a_new_rule_is_called_safe():
    """A changed one may be weaker than before."""
    freeze, lag = {"kind": "freeze", "actions": ["*"]}, {"measure": "group.lag", "above": 100}
    assert change_rule_plan("night", {}, freeze, 1).safe_because
    assert change_rule_plan("night", freeze, freeze | {"actions": ["delete topic"]}, 1).safe_because == ""
    assert alert_rule_plan("lag", {}, lag, []).safe_because
    assert alert_rule_plan("lag", lag, lag | {"above": 10_000}, []).safe_because == ""


def test_a_subscription_that_pushes_fewer_metrics_is_not_called_safe():
    own = {"interval.ms": "1000", "metrics": "a,b"}
    before = ClientMetricsSubscription("slow", own)
    assert metrics_plan("slow", own, None, SERVERS).safe_because
    assert metrics_plan("slow", own | {"interval.ms": "2000"}, before, SERVERS).safe_because
    assert metrics_plan("slow", own | {"metrics": "a"}, before, SERVERS).safe_because == ""


def test_a_rolling_restart_is_called_safe_only_without_gaps_and_doubts():
    brokers = (PlannedRestart("broker-1", 1, False, 5, ()),)
    assert RestartPlan(brokers, (), "").as_plan().safe_because
    assert RestartPlan(brokers, (), "It was seen long ago.").as_plan().safe_because == ""
    gap = PlannedRestart("broker-1", 1, False, 5, (ReplicaGap("orders", 0, 1, OFFLINE),))
    assert RestartPlan((gap,), (), "").as_plan().safe_because == ""


class TestAccounts:
    def test_who_may_not_log_in_or_do_as_much_loses_access(self, operator):
        now = user_rights_of(operator)
        assert "cannot log in" in change_plan(operator, replace(now, is_active=False)).losses[0]
        assert "may do less" in change_plan(operator, replace(now, role="viewer")).losses[0]
        assert change_plan(operator, replace(now, role="admin")).losses == ()

    def test_a_new_password_and_an_end_of_logins_take_the_tokens(self, operator):
        assert "tokens of the account are deleted" in password_plan(operator).losses[0]
        assert end_logins_plan(operator).losses == ()
        ApiToken.objects.create(user=operator, name="ci", digest="d", ends_at=timezone.now() + timedelta(days=1))
        assert "tokens of the account are deleted" in end_logins_plan(operator).losses[0]

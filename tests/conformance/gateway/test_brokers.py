"""What each broker says of itself, the same from the cluster in memory and from real brokers."""

import uuid

import pytest

from console.kit.gateway.brokers.interface import replica_sizes
from console.kit.gateway.errors import GatewayError, RefusedError
from tests.conformance.gateway.real import kafka_gateway
from tests.conformance.gateway.test_gateway import eventually


def setting(gateway, broker_id: int, name: str):
    return next(item for item in gateway.brokers.settings()[broker_id] if item.name == name)


@pytest.fixture
def first(gateway) -> int:
    return gateway.describe_cluster().brokers[0].id


def test_a_setting_has_its_value_source_default_and_meaning(gateway, first):
    result = gateway.brokers.settings()[first]
    assert [item.name for item in result] == sorted(item.name for item in result)
    number = setting(gateway, first, "broker.id")
    assert (number.value, number.source, number.is_read_only) == (str(first), "file", True)
    delay = setting(gateway, first, "log.segment.delete.delay.ms")
    assert (delay.value, delay.source, delay.default, delay.is_read_only) == ("60000", "default", "60000", False)
    assert delay.meaning


def test_a_change_for_one_broker_counts_before_one_for_all(gateway, first):
    name = "log.cleaner.backoff.ms"
    gateway.brokers.change_settings(None, {name: "16000"})
    gateway.brokers.change_settings(first, {name: "17000"})
    setting_now = eventually(lambda: setting(gateway, first, name), lambda seen: seen.value == "17000")
    assert setting_now.source == "broker"
    assert setting_now.values_by_source == {"broker": "17000", "cluster": "16000", "default": "15000"}

    gateway.brokers.change_settings(first, {name: None})
    eventually(lambda: setting(gateway, first, name), lambda seen: (seen.value, seen.source) == ("16000", "cluster"))
    gateway.brokers.change_settings(None, {name: None})
    eventually(lambda: setting(gateway, first, name), lambda seen: (seen.value, seen.source) == ("15000", "default"))


@pytest.mark.parametrize(("name", "value"), [("log.cleaner.backoff.ms", "soon"), ("broker.id", "7")])
def test_a_value_that_cannot_be_is_refused_and_changes_nothing(name, value, gateway, first):
    before = setting(gateway, first, name)
    with pytest.raises(RefusedError, match=name.replace(".", r"\.")):
        gateway.brokers.change_settings(first, {name: value})
    assert setting(gateway, first, name) == before


def test_a_broker_that_is_not_there_cannot_be_changed(gateway):
    with pytest.raises(GatewayError, match="999"):
        gateway.brokers.change_settings(999, {"log.cleaner.backoff.ms": "16000"})


def test_log_directories_tell_their_volume_and_what_lies_in_them(gateway, first, append):
    topic = f"conformance-{uuid.uuid4().hex[:12]}"
    gateway.create_topic(topic, 1, 1)
    result = eventually(
        lambda: next((item for item in gateway.describe_topics() if item.name == topic), None),
        lambda seen: seen and seen.partitions[0].leader is not None,
    )
    append(topic, 0, 5)
    leader = result.partitions[0].leader
    dirs = eventually(gateway.brokers.log_dirs, lambda seen: replica_sizes(seen).get((topic, 0), {}).get(leader, 0) > 0)
    (directory,) = dirs[leader]
    assert not directory.error
    assert 0 < directory.usable_bytes <= directory.total_bytes
    assert topic in {name for name, _, _ in directory.replicas}


def test_our_brokers_tell_how_long_their_requests_take(running_brokers):
    gateway = kafka_gateway(running_brokers)
    gateway.brokers.settings()
    (times, *_) = gateway.brokers.request_times().values()
    by_api = {time_.api: time_ for time_ in times}
    assert by_api["DescribeConfigs"].count >= 1
    assert sum(count for _, count in by_api["DescribeConfigs"].buckets) == by_api["DescribeConfigs"].count
    assert all(sum(error.count for error in time_.errors) == time_.error_count for time_ in times)
    gateway.close()


def test_a_broker_that_answered_is_known_for_what_it_runs(gateway, first):
    gateway.brokers.log_dirs()
    software = gateway.brokers.software()[first]
    assert (software.name, software.speaks) == ("Barnabas", "3.9")
    assert software.api_count >= 40


def test_a_replica_goes_into_no_directory_that_is_not_there_and_none_goes_that_is_not_there(gateway, first):
    name = f"conformance-{uuid.uuid4().hex[:12]}"
    gateway.create_topic(name, 1, 1)
    held = eventually(lambda: replica_sizes(gateway.brokers.log_dirs()), lambda seen: (name, 0) in seen)
    (holder,) = held[name, 0]
    (directory, *_) = gateway.brokers.log_dirs()[holder]
    move = gateway.brokers.move_replicas

    assert move(holder, {(name, 0): "/no/such/directory"}).keys() == {(name, 0)}
    assert move(holder, {(name, 7): directory.path}).keys() == {(name, 7)}
    assert move(holder, {(name, 0): directory.path}) == {}
    with pytest.raises(GatewayError):
        move(99, {(name, 0): directory.path})

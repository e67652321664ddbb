"""Which clients push what, and when they may."""

import contextlib
from uuid import UUID

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.common.shared_budget import Owner
from broker.config.client_metrics import read_subscription
from broker.runtime.telemetry.client_instances import ClientInstances

OWNER = Owner("User:a", "/10.0.0.1")
JAVA = {"client_id": "shop", "client_software_name": "apache-kafka-java", "client_software_version": "4.4.0"}
EACH_SECOND = read_subscription("a", {"metrics": "x.,y.", "interval.ms": "1000"})
OF_JAVA = read_subscription("b", {"metrics": "z.", "interval.ms": "5000", "match": "client_software_name=apache.*"})


def instance(instances: ClientInstances, number: int = 1, now_ms: int = 0, version: int = 1, owner: Owner = OWNER):
    return instances.of(UUID(int=number), owner, JAVA, [EACH_SECOND, OF_JAVA], version, now_ms)


def test_a_client_pushes_what_all_matching_subscriptions_want_at_the_shortest_interval():
    client = instance(ClientInstances())
    assert (client.metrics, client.interval_ms) == (("x.", "y.", "z."), 1_000)
    other = ClientInstances().of(UUID(int=2), OWNER, {"client_id": "c"}, [EACH_SECOND, OF_JAVA], 1, 0)
    assert other.metrics == ("x.", "y.")
    assert other.subscription_id != client.subscription_id


def test_a_star_stands_for_all():
    every = read_subscription("c", {"metrics": "*", "interval.ms": "60000"})
    client = ClientInstances().of(UUID(int=2), OWNER, JAVA, [EACH_SECOND, every], 1, 0)
    assert (client.metrics, client.interval_ms) == (("*",), 1_000)


def test_without_a_subscription_nothing_is_pushed():
    client = ClientInstances().of(UUID(int=2), OWNER, JAVA, [], 1, 0)
    assert (client.metrics, client.interval_ms) == ((), 300_000)


def test_requests_before_their_interval_are_throttled():
    instances = ClientInstances()
    client = instance(instances)
    client.take_get(0)
    with pytest.raises(ApiError) as early:
        client.take_get(999)
    assert early.value.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    client.take_push(10, is_last=False)  # clients draw when they begin
    with pytest.raises(ApiError):
        client.take_push(1_009, is_last=False)
    client.take_push(1_010, is_last=False)


def test_a_last_push_may_come_at_any_time_and_none_after_it():
    client = instance(ClientInstances())
    client.take_get(0)
    client.take_push(1, is_last=False)
    client.take_push(2, is_last=True)
    client.is_terminating = True
    with pytest.raises(ApiError) as after:
        client.take_push(5_000, is_last=False)
    assert after.value.code is ErrorCode.INVALID_REQUEST


def test_another_version_of_the_subscriptions_lets_a_client_ask_at_once():
    instances = ClientInstances()
    instance(instances).take_get(0)
    instance(instances, version=2).take_get(1)


def test_clients_that_do_not_push_are_forgotten():
    instances = ClientInstances()
    instance(instances, 1)
    instance(instances, 2, now_ms=60_001)
    assert len(instances) == 1
    assert instances.budget.held == 1


def test_one_address_does_not_take_the_place_of_all_others():
    instances = ClientInstances()
    with contextlib.suppress(ApiError):
        for number in range(20_000):
            instance(instances, number + 1)
    assert len(instances) < 13_000
    instance(instances, 30_000, owner=Owner("User:b", "/10.0.0.2"))

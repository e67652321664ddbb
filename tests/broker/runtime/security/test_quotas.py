"""Quotas on a broker follow those in ZooKeeper, whoever writes them."""

import itertools

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.config.broker import read_broker_config
from broker.runtime.config_changes import ConfigKeepers
from broker.runtime.security.quotas import Quotas, resolved
from broker.security.quotas.entities import entity_at
from broker.security.quotas.filters import read_filter
from broker.security.session import Session
from broker.zookeeper.entity_configs import EntityConfigs
from broker.zookeeper.session import ZooKeeperSession
from broker.zookeeper.store import ClusterStore
from tests.eventually import eventually
from tests.manual_clock import ManualClock

_chroots = itertools.count()
CONFIG = read_broker_config("broker.id=1\nzookeeper.connect=unused:1\nquota.window.num=3\n")


@pytest.fixture
async def session(zookeeper):
    made = ZooKeeperSession(f"127.0.0.1:{zookeeper.port}/quotas-{next(_chroots)}", 4_000)
    await made.connect(10_000)
    await ClusterStore(made, ManualClock()).ensure_persistent_paths()
    yield made
    await made.close()


@pytest.fixture
async def configs(session):
    return EntityConfigs(session)


@pytest.fixture
async def quotas(session, configs):
    """As on a broker that has started."""
    made = Quotas(configs, CONFIG, lambda: 0)
    keepers = ConfigKeepers(session, made.keepers)
    await keepers.start()
    await made.load()
    yield made
    keepers.stop()


def producing(quotas, user="u", client_id="c"):
    produce = quotas.meter_of(Session("h", "PLAINTEXT", f"User:{user}"), client_id, 0).produce
    return produce.bound if produce else None


async def test_what_was_set_before_the_start_counts(configs):
    await configs.change("users/%C3%84", lambda _: {"producer_byte_rate": "5", "SCRAM-SHA-256": "x"})
    quotas = Quotas(configs, CONFIG, lambda: 0)
    await quotas.load()
    assert producing(quotas, "Ä") == 5
    assert producing(quotas) is None


async def test_what_another_writes_counts_when_it_is_told(quotas, configs):
    await configs.change("users/u/clients/<default>", lambda _: {"producer_byte_rate": "7"})
    await eventually(lambda: producing(quotas) == 7, "the notice has come")
    await configs.change("users/u/clients/c", lambda _: {"producer_byte_rate": "8"})
    await eventually(lambda: producing(quotas) == 8, "the more precise one counts")
    await configs.change("users/u/clients/c", lambda _: {})
    await eventually(lambda: producing(quotas) == 7, "the other one counts again")
    await configs.change("users/u/clients/<default>", lambda _: {})
    await eventually(lambda: producing(quotas) is None, "none counts")


async def test_the_rates_of_addresses_follow_too(quotas, configs):
    await configs.change("ips/127.0.0.9", lambda _: {"connection_creation_rate": "1"})
    await eventually(lambda: quotas.delay_s("127.0.0.9") > 0, "whoever asks often is held")
    assert quotas.delay_s("127.0.0.8") == 0
    await configs.change("ips/127.0.0.9", lambda _: {})
    await eventually(lambda: quotas.delay_s("127.0.0.9") == 0, "nobody is held any more")


async def test_what_no_check_has_seen_is_left_out(quotas, configs, session):
    await configs.change("clients/c", lambda _: {"producer_byte_rate": "fast"})
    await session.create("/config/clients/broken", b"\xff")
    await configs.change("clients/d", lambda _: {"producer_byte_rate": "3"})
    await eventually(lambda: producing(quotas, client_id="d") == 3, "the sound one counts")
    assert producing(quotas) is None


async def test_what_is_altered_here_counts_at_once_and_is_described(quotas):
    user = entity_at("users/u")
    await quotas.alter(user, {"producer_byte_rate": 9.0, "request_percentage": 2.5}, validate_only=False)
    assert producing(quotas) == 9
    everything = read_filter([], is_strict=False)
    assert await quotas.described(everything) == [(user, {"producer_byte_rate": 9.0, "request_percentage": 2.5})]
    await quotas.alter(user, {"producer_byte_rate": None, "request_percentage": None}, validate_only=False)
    assert producing(quotas) is None
    assert await quotas.described(everything) == []


async def test_the_windows_are_those_of_the_configuration(quotas):
    await quotas.alter(entity_at("users/u"), {"producer_byte_rate": 100.0}, validate_only=False)
    sensor = quotas.meter_of(Session("h", "PLAINTEXT", "User:u"), "c", 0).produce
    assert sensor.most_at_once == 200


async def test_a_name_that_no_znode_can_have_is_refused(quotas):
    with pytest.raises(ApiError) as refused:
        await quotas.alter(entity_at("users/.."), {"producer_byte_rate": 1.0}, validate_only=False)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("text", "address"),
    [("::1", "::1"), ("0:0:0:0:0:0:0:1", "::1"), ("::ffff:1.2.3.4", "1.2.3.4"), ("1.2.3.4", "1.2.3.4"), ("a b", None)],
)
async def test_an_address_has_one_spelling(text, address):
    assert await resolved(text) == address

"""Which quota counts, said by the console, is what brokers do: for whatever entities there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.security.quotas.addresses import AddressQuotas
from broker.security.quotas.client_quotas import ClientQuotas
from broker.security.quotas.entities import candidates
from console.cluster.quotas.queries import verdicts
from console.kit.gateway.quotas.interface import (
    DEFAULT,
    QuotaEntity,
    QuotaKey,
    QuotaUse,
    deciding,
    entity_of,
    order_for,
    order_for_address,
    rank_of,
    source_of,
)

#: Names that znodes spell otherwise, and one that looks like the default's.
NAMES = ("alice", "a b/c,ü%", "<default>")
OF_CLIENTS = [item for item in QuotaKey if item is not QuotaKey.CONNECTION_CREATION_RATE]

names = st.sampled_from((*NAMES, None))
parts = st.one_of(
    st.tuples(st.tuples(st.just("user"), names)),
    st.tuples(st.tuples(st.just("client-id"), names)),
    st.tuples(st.tuples(st.just("user"), names), st.tuples(st.just("client-id"), names)),
)
entities = parts.map(entity_of)
values = st.dictionaries(st.sampled_from(OF_CLIENTS), st.integers(1, 10**9).map(float), min_size=1)
quotas = st.dictionaries(entities, values, max_size=12)


def broker_with(quotas) -> ClientQuotas:
    broker = ClientQuotas()
    for entity, limits in quotas.items():
        broker.set(entity, limits, 0)
    return broker


def bounds(broker: ClientQuotas, user: str, client_id: str) -> dict[str, float | None]:
    """In what is recorded: of request time ns per second."""
    meter = broker.meter_of(f"User:{user}", client_id, 0)
    sensors = (meter.produce, meter.fetch, meter.request, meter.mutation)
    return {key: client.bound if client else None for key, client in zip(OF_CLIENTS, sensors, strict=True)}


@given(quotas, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_the_console_says_of_every_client_what_the_broker_does(quotas, user, client_id):
    felt = bounds(broker_with(quotas), user, client_id)
    for key in OF_CLIENTS:
        decider = deciding(quotas, key, order_for(user, client_id))
        quota = None if decider is None else quotas[decider][key]
        scale = 10_000_000 if key is QuotaKey.REQUEST_PERCENTAGE else 1
        assert felt[key] == (None if quota is None else quota * scale)


@given(quotas, st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=6))
def test_every_use_that_a_broker_tells_is_of_the_entity_whose_quota_bounds_it(quotas, clients):
    broker = broker_with(quotas)
    deciders = {}
    for user, client_id in clients:
        broker.meter_of(f"User:{user}", client_id, 0)
        for key in OF_CLIENTS:
            if (decider := deciding(quotas, key, order_for(user, client_id))) is not None:
                deciders.setdefault((key, decider), []).append((user, client_id))
    throttled = {
        (use.key, source_of(QuotaUse(use.key, use.user, use.client_id, "", use.bound, 0, 0), quotas))
        for use in broker.uses(0, 1_000)
    }
    assert throttled == deciders.keys()


@given(st.dictionaries(st.sampled_from(("10.0.0.1", "10.0.0.2", None)), st.integers(0, 9)))
def test_an_address_is_held_to_its_own_rate_or_to_the_default(rates):
    broker, quotas = AddressQuotas(), {}
    for ip, rate in rates.items():
        broker.set(ip, rate, 0)
        quotas[QuotaEntity(ip=DEFAULT if ip is None else ip)] = {QuotaKey.CONNECTION_CREATION_RATE: rate}
    for ip in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        decider = deciding(quotas, QuotaKey.CONNECTION_CREATION_RATE, order_for_address(ip))
        quota = None if decider is None else quotas[decider][QuotaKey.CONNECTION_CREATION_RATE]
        assert quota == broker._limit(ip)


def test_ranks_are_the_order_in_which_brokers_ask():
    order = list(candidates("u", "c"))
    assert [rank_of(item) for item in order] == list(range(1, 9))
    assert [rank_of(item) for item in order_for_address("10.0.0.1")] == [9, 10]


@pytest.mark.parametrize(
    ("user", "client_id", "text", "decider"),
    [
        ("alice", "app", "5 B / s", "user alice, client id app"),
        ("alice", "other", "7 B / s", "user alice"),
        ("bob", "app", "9 B / s", "default user"),
        ("bob", "", "9 B / s", "default user"),
    ],
)
def test_the_try_out_names_who_decides_in_order(user, client_id, text, decider):
    limits = {"users/alice/clients/app": 5, "users/alice": 7, "users/<default>": 9, "clients/app": 1}
    from console.kit.gateway.quotas.interface import entity_at

    quotas = {entity_at(path): {"producer_byte_rate": float(limit)} for path, limit in limits.items()}
    (producing, *others) = verdicts(quotas, user, client_id, "")
    assert (producing.text.replace("\u202f", " "), producing.decider) == (text, decider)
    assert len(producing.steps) == 8
    assert {other.text for other in others} == {"no limit"}

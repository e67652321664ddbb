"""Which values a quota may have, and how they are written down."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.security.quotas.entities import QuotaEntity
from broker.security.quotas.values import QuotaKey, key_of, read_values, text_of

USER, IP = QuotaEntity(user="u"), QuotaEntity(ip="1.2.3.4")


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("producer_byte_rate", 1024.0, "1024"),
        ("producer_byte_rate", 1024.0000001, "1024"),
        ("consumer_byte_rate", float(2**63 - 1), "9223372036854775807"),
        ("request_percentage", 12.5, "12.5"),
        ("request_percentage", 200.0, "200.0"),
        ("controller_mutation_rate", 0.1, "0.1"),
        ("connection_creation_rate", 0.0, "0"),
        ("connection_creation_rate", 5.0, "5"),
    ],
)
def test_a_value_is_written_as_kafka_writes_it(key, value, text):
    assert text_of(QuotaKey(key), value) == text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("producer_byte_rate", 0.0),
        ("producer_byte_rate", -1.0),
        ("producer_byte_rate", 1.5),
        ("producer_byte_rate", 1.00001),
        ("producer_byte_rate", 1e19),
        ("producer_byte_rate", float("nan")),
        ("producer_byte_rate", float("inf")),
        ("request_percentage", 0.0),
        ("request_percentage", float("inf")),
        ("controller_mutation_rate", -0.1),
        ("connection_creation_rate", -1.0),
        ("connection_creation_rate", 0.5),
        ("connection_creation_rate", 2.0**31),
    ],
)
def test_what_is_no_value_is_refused(key, value):
    with pytest.raises(ApiError) as refused:
        text_of(QuotaKey(key), value)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("entity", "key"),
    [(USER, "connection_creation_rate"), (USER, "SCRAM-SHA-256"), (USER, "x"), (IP, "producer_byte_rate")],
)
def test_an_entity_has_the_quotas_of_its_kind_only(entity, key):
    with pytest.raises(ApiError):
        key_of(entity, key)


def test_what_others_keep_in_the_znode_is_passed_over_and_what_is_no_value_is_told():
    config = {
        "SCRAM-SHA-256": "salt=…",
        "producer_byte_rate": "1024",
        "consumer_byte_rate": "many",
        "request_percentage": "0",
    }
    values, wrong = read_values(USER, config)
    assert values == {QuotaKey.PRODUCER_BYTE_RATE: 1024.0}
    assert [partition.partition("=")[0] for partition in wrong] == ["consumer_byte_rate", "request_percentage"]

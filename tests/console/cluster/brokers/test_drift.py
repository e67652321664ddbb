"""Where a broker's settings are not what one would expect: others', or its file's."""

from console.cluster.brokers.drift import setting_rows
from console.kit.gateway.brokers.interface import BrokerSetting


def setting(name="min.insync.replicas", value="1", source="default", **others) -> BrokerSetting:
    return BrokerSetting(
        name, value, source, "1", "", **{"values_by_source": {source: value, "default": "1"}, **others}
    )


def drifts(broker_id, settings, file_values=None) -> tuple[str, ...]:
    (row,) = setting_rows(broker_id, settings, file_values)
    return row.drifts


def test_a_value_that_all_brokers_share_does_not_drift():
    assert drifts(1, {1: [setting()], 2: [setting()]}) == ()


def test_each_broker_with_another_value_is_named():
    results = {1: [setting(value="2")], 2: [setting()], 3: [setting(value="3")]}
    assert drifts(1, results) == ("Elsewhere: 1 on broker 2, 3 on broker 3.",)


def test_what_every_broker_has_of_its_own_does_not_drift():
    results = {1: [setting("broker.id", "1", "file")], 2: [setting("broker.id", "2", "file")]}
    assert drifts(1, results) == ()


def test_a_file_whose_value_does_not_count_is_told():
    values = {"broker": "3", "file": "2", "default": "1"}
    (sentence,) = drifts(1, {1: [setting(value="3", source="broker", values_by_source=values)]})
    assert "file says 2" in sentence


def test_a_file_that_was_edited_since_the_start_is_told():
    (sentence,) = drifts(1, {1: [setting(value="2", source="file")]}, {"min.insync.replicas": "3"})
    assert "now says 3" in sentence
    assert drifts(1, {1: [setting(value="2", source="file")]}, {"min.insync.replicas": "2"}) == ()


def test_a_key_taken_out_of_the_file_since_the_start_is_told():
    (sentence,) = drifts(1, {1: [setting(value="2", source="file")]}, {})
    assert "now says nothing" in sentence


def test_a_secret_is_not_compared():
    secret = setting("ssl.truststore.password", None, "file", is_sensitive=True)
    assert drifts(1, {1: [secret], 2: [setting("ssl.truststore.password", "x")]}, {}) == ()

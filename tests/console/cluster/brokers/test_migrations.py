"""When a broker dropped out is remembered under another name."""

from tests.console.migrating import migrate, migrated


def test_brokers_keep_when_they_left(transactional_db):
    with migrated([("brokers", "0008_not_loaded")]) as apps:
        apps.get_model("brokers", "Broker").objects.create(broker_id=3, departures=[1_000, 2_000])
        after = migrate([("brokers", "0009_left_at")])
        assert after.get_model("brokers", "Broker").objects.get().left_at_ms == [1_000, 2_000]

"""What was called a place of a group is its partition: the rows stay, with what is known of them."""

from tests.console.migrating import migrate, migrated

BEFORE, AFTER = [("consumers", "0003_arrivals")], [("consumers", "0004_group_partitions")]


def test_groups_keep_their_partitions(transactional_db):
    with migrated(BEFORE) as apps:
        group = apps.get_model("consumers", "ConsumerGroup").objects.create(name="readers", coordinator=1)
        apps.get_model("consumers", "GroupPlace").objects.create(
            group=group, topic="orders", partition=3, committed=7, verdict="ok"
        )
        after = migrate(AFTER)
        kept = after.get_model("consumers", "ConsumerGroup").objects.get().partitions.get()
        assert (kept.topic, kept.partition, kept.committed) == ("orders", 3, 7)
        back = migrate(BEFORE)
        assert back.get_model("consumers", "GroupPlace").objects.get().committed == 7

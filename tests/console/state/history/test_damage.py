"""What may lose records, hold clients back or slow replication is amber, and the rest is not."""

import pytest

from console.state.history.damage import tone_of


@pytest.mark.parametrize(
    ("name", "old", "new", "is_harmful"),
    [
        ("retention.ms", "604800000", "120000", True),
        ("retention.ms", None, "120000", True),
        ("retention.ms", "-1", "120000", True),
        ("retention.ms", "120000", "604800000", False),
        ("retention.ms", "120000", "-1", False),
        ("retention.ms", "120000", None, False),
        ("log.retention.hours (server.properties)", "168", "1", True),
        ("min.insync.replicas", "2", "1", True),
        ("cleanup.policy", "compact", "compact,delete", True),
        ("cleanup.policy", "delete", "compact", False),
        ("unclean.leader.election.enable", "false", "true", True),
        ("unclean.leader.election.enable", "true", "false", False),
        ("follower.replication.throttled.rate", None, "1000", True),
        ("follower.replication.throttled.replicas", "*", None, False),
        ("producer_byte_rate", None, "20000", True),
        ("producer_byte_rate", "20000", "40000", False),
        ("request_percentage", "50", None, False),
        ("segment.bytes", None, "1048576", False),
        ("retention.ms", None, "(hidden)", False),
    ],
)
def test_the_tone_of_a_changed_value(name, old, new, is_harmful):
    assert tone_of({name: (old, new)}) == ("warning" if is_harmful else "plain")

"""Clients that are denied what they need, and a broker that leads far too much, are reasons of health."""

import pytest

from console.cluster.acls.collect import DenialCollector
from console.cluster.acls.denied import CLIENTS_MAX, WINDOW_MS, DenialWindow
from console.cluster.brokers.leader_skew import GRACE_MS, leader_skew
from console.kit.gateway.acls.interface import Denials
from console.signals.overview.queries import overview_facts
from console.state.clusters.models import Broker, ClusterState

AT_MS = 1_700_000_000_000


def denials(principal: str, count: int, last_principal: str = "", at_ms: int = AT_MS) -> Denials:
    return Denials(principal, count, at_ms, last_principal or principal, "10.0.0.7", "WRITE", "TOPIC", "orders")


def reasons() -> dict[str, str]:
    return {
        reason.key: f"{reason.text} {reason.evidence}. {reason.action.text}"
        for reason in overview_facts()["health"].reasons
    }


class TestDenied:
    def test_a_producer_that_is_denied_again_and_again_is_named_with_its_topic_and_the_next_step(
        self, cluster, collect, clock, client_of, administrator
    ):
        collect()
        cluster.acls.has_authorizer = True
        cluster.acls.denied = (denials("User:app", 4),)
        collector = DenialCollector(cluster.acls, clock.now_ms)
        collector.look()
        assert reasons() == {}, "what was denied before the first look may be of last year"
        clock.advance(10_000)
        cluster.acls.denied = (denials("User:app", 9),)
        collector.look()
        assert reasons() == {
            "denied:User:app:WRITE:TOPIC:orders": "User:app is denied Write on topic orders: no ACL allows it, or one "
            "denies it. 5 denials in the last minute. See which rule decides, then add the "
            "rule that it needs"
        }
        text = client_of(administrator).get("/").content.decode()
        assert 'href="/access-lists/denials/"' in text
        assert "10.0.0.7" not in text
        clock.advance(WINDOW_MS + 10_000)
        collector.look()
        clock.advance(10_000)
        collect()
        collector.look()
        assert reasons() == {}, "it was given the rule, or has ended"

    def test_who_may_not_see_every_name_reads_of_no_denial(self, cluster, collect, limited, client_of):
        collect()
        window = DenialWindow()
        window.observe([denials("User:app", 1)], AT_MS)
        (client,) = window.observe([denials("User:app", 9)], AT_MS + 10_000)
        ClusterState.objects.update(denied=[{name: getattr(client, name) for name in client.__slots__}])
        assert "User:app" in str(reasons())
        assert "User:app" not in client_of(limited).get("/").content.decode()

    def test_one_denial_is_a_person_who_tries_something(self):
        window = DenialWindow()
        window.observe([], AT_MS)
        assert window.observe([denials("User:app", 2)], AT_MS + 10_000) == []

    def test_the_console_s_own_denials_are_on_its_pages(self):
        window = DenialWindow("User:console")
        window.observe([], AT_MS)
        clients = window.observe([denials("User:console", 50), denials("User:app", 50)], AT_MS + 10_000)
        assert [client.principal for client in clients] == ["User:app"]

    def test_a_broker_that_starts_again_counts_from_nothing(self):
        window = DenialWindow()
        window.observe([denials("User:app", 100)], AT_MS)
        assert window.observe([denials("User:app", 5)], AT_MS + 10_000) == []
        (client,) = window.observe([denials("User:app", 9)], AT_MS + 20_000)
        assert client.recent == 4

    def test_one_that_goes_on_is_the_same_when_a_broker_ends_with_its_counts(self):
        window = DenialWindow()
        window.observe([], AT_MS)
        window.observe([denials("User:app", 9, at_ms=AT_MS + 9_000)], AT_MS + 10_000)
        (client,) = window.observe([denials("User:app", 2, at_ms=AT_MS + 19_000)], AT_MS + 20_000)
        assert (client.since_ms, client.recent) == (AT_MS + 9_000, 1)
        assert window.observe([denials("User:app", 2, at_ms=AT_MS + 19_000)], AT_MS + WINDOW_MS + 20_000) == []

    def test_since_when_is_that_of_the_first_denial_and_others_are_the_last_of_them(self):
        window = DenialWindow()
        window.observe([], AT_MS)
        window.observe([denials("others", 5, "User:late", AT_MS + 1)], AT_MS + 10_000)
        (client,) = window.observe([denials("others", 9, "User:later", AT_MS + 9)], AT_MS + 20_000)
        assert (client.principal, client.since_ms) == ("User:later", AT_MS + 1)

    def test_no_more_are_kept_than_a_page_can_name(self):
        window = DenialWindow()
        window.observe([], AT_MS)
        assert len(window.observe([denials(f"User:{n}", 9) for n in range(100)], AT_MS + 1)) == CLIENTS_MAX


def broker(
    broker_id: int, leads: int, preferred: int, led: int, *, registered: bool = True, changed_ms: int = 0
) -> Broker:
    return Broker(
        broker_id=broker_id,
        is_registered=registered,
        changed_at_ms=changed_ms,
        leader_count=leads,
        preferred_count=preferred,
        preferred_led_count=led,
    )


class TestSkew:
    @pytest.mark.parametrize(
        ("brokers", "times", "by_election"),
        [
            ([broker(1, 20, 10, 10), broker(2, 5, 10, 5), broker(3, 5, 10, 5)], 2.0, True),
            ([broker(1, 20, 20, 20), broker(2, 5, 5, 5), broker(3, 5, 5, 5)], 2.0, False),
            ([broker(1, 14, 10, 10), broker(2, 8, 10, 8), broker(3, 8, 10, 8)], None, None),
            ([broker(1, 7, 3, 3), broker(2, 0, 2, 0), broker(3, 0, 2, 0)], None, None),
            ([broker(1, 30, 30, 30)], None, None),
            ([broker(1, 30, 15, 15), broker(2, 0, 15, 0, registered=False)], None, None),
            ([broker(1, 30, 15, 15), broker(2, 0, 15, 0, changed_ms=AT_MS - GRACE_MS + 1)], None, None),
            ([broker(1, 0, 0, 0), broker(2, 0, 0, 0)], None, None),
        ],
    )
    def test_it_is_told_only_where_it_is_large_and_stays(self, brokers, times, by_election):
        skew = leader_skew(brokers, AT_MS)
        assert (skew and skew.times_even, skew and skew.is_mended_by_election) == (times, by_election)

    def test_the_overview_names_the_broker_and_the_election(self, cluster, collect, clock):
        cluster.create_topic("orders", 30, 3)
        collect()
        Broker.objects.update(changed_at_ms=1, preferred_count=10, preferred_led_count=5, leader_count=5)
        Broker.objects.filter(broker_id=1).update(leader_count=20, preferred_led_count=10)
        assert reasons()["leader skew"] == (
            "Broker 1 leads 20 of 30 partitions, 2.0 times its even share: it serves the clients of all of them. "
            "10 partitions not led by the preferred replica. Elect the preferred leaders"
        )

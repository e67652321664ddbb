"""What anybody changes is seen, dated and shown in one line with leaders' changes and people's actions."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from console.kit.audit.models import AuditEvent
from console.kit.audit.record import record_event
from console.kit.gateway.acls.interface import AclRule
from console.kit.gateway.errors import refusal
from console.kit.gateway.quotas.interface import QuotaEntity
from console.state.history.attribution import attribute_changes, is_by_unknown, is_made_by
from console.state.history.differences import HistoryEvent
from console.state.history.flood import LINES_MAX, MANY
from console.state.history.models import Change, ChangeKind
from console.state.history.store import write_events

RULE = AclRule("TOPIC", "orders", "LITERAL", "User:app", "ALLOW", "WRITE")


@pytest.fixture
def look(cluster, collect, collector, clock):
    """Ten seconds later everything is read again."""

    def again() -> None:
        clock.advance(10_000)
        collect()
        collector.look("configuration")

    cluster.create_topic("orders", 1, 1)
    again()
    return again


def sentences(**chosen) -> list[str]:
    return [change.sentence for change in Change.objects.filter(**chosen)]


def page_of(client, **query):
    return list(client.get("/history/", query).context["page"])


class TestSeen:
    def test_a_setting_of_a_topic_that_another_tool_changes(self, cluster, look):
        cluster.change_topic_settings("orders", {"retention.ms": "3600000"})
        look()
        cluster.change_topic_settings("orders", {"retention.ms": "60000"})
        look()
        cluster.change_topic_settings("orders", {"retention.ms": None})
        look()
        assert sentences(kind="settings") == [
            "orders: retention.ms 60000 → default",
            "orders: retention.ms 3600000 → 60000",
            "orders: retention.ms default → 3600000",
        ]

    def test_a_setting_of_a_broker_and_of_all(self, cluster, look):
        cluster.brokers.change_settings(2, {"log.cleaner.threads": "2"})
        cluster.brokers.change_settings(None, {"log.retention.ms": "1000"})
        look()
        assert sorted(sentences(kind="brokerconfig")) == [
            "Broker 2: log.cleaner.threads default → 2",
            "all brokers: log.retention.ms default → 1000",
        ]

    def test_acls_and_quotas(self, cluster, look):
        cluster.acls.has_authorizer = True
        look()
        cluster.acls.create([RULE])
        cluster.quotas.change(QuotaEntity(user="alice"), {"producer_byte_rate": 1024.0})
        look()
        cluster.acls.delete([RULE])
        cluster.quotas.change(QuotaEntity(user="alice"), {"producer_byte_rate": 2048.0})
        look()
        assert sentences(kind="acl") == [f"ACL removed: {RULE}", f"ACL added: {RULE}"]
        assert sentences(kind="quota") == [
            "Quota of user alice: producer_byte_rate 1024 → 2048",
            "Quota of user alice: producer_byte_rate default → 1024",
        ]

    def test_rules_that_cannot_be_read_are_not_deleted(self, cluster, look):
        cluster.acls.has_authorizer = True
        cluster.acls.create([RULE])
        cluster.quotas.change(QuotaEntity(user="alice"), {"producer_byte_rate": 1024.0})
        look()
        seen = sentences(kind__in=("acl", "quota"))
        cluster.acls.has_authorizer = False
        cluster.quotas.refused = refusal(29)
        look()
        cluster.acls.has_authorizer, cluster.quotas.refused = True, None
        look()
        assert sentences(kind__in=("acl", "quota")) == seen

    def test_a_broker_that_is_away_has_changed_nothing(self, cluster, look):
        cluster.brokers.change_settings(2, {"log.cleaner.threads": "2"})
        look()
        cluster.stop_broker(2)
        look()
        cluster.start_broker(2)
        look()
        assert len(sentences(kind="brokerconfig")) == 1

    def test_groups_and_offsets_that_are_reset_elsewhere(self, cluster, look):
        cluster.append("orders", 0, 100)
        cluster.groups.commit("nightly", "orders", 0, 80)
        look()
        look()
        cluster.groups.commit("nightly", "orders", 0, 5)
        look()
        cluster.groups.delete_group("nightly")
        look()
        assert sentences(kind="offsets") == ["nightly: offsets changed while the group had no members: orders-0 80 → 5"]
        assert sentences(kind="group") == ["Group nightly is gone: deleted, or expired", "Group nightly began"]

    def test_commits_of_members_are_no_change(self, cluster, look):
        cluster.append("orders", 0, 100)
        cluster.groups.join("live", "m-1", ("orders", 0))
        for offset in (10, 20, 30):
            cluster.groups.commit("live", "orders", 0, offset)
            look()
        cluster.groups.leave("live", "m-1")
        cluster.groups.commit("live", "orders", 0, 40)
        look()
        assert sentences(kind="offsets") == []

    def test_a_client_without_membership_that_goes_on_is_told_of_once(self, cluster, look):
        cluster.append("orders", 0, 100)
        for offset in range(10, 90, 10):
            cluster.groups.commit("job", "orders", 0, offset)
            look()
        assert len(sentences(kind="offsets")) == 1

    def test_what_changed_while_no_collector_ran_is_told_by_the_next(self, cluster, look, zookeeper, clock):
        from console.shell.collector.collector import Collector

        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        cluster.brokers.change_settings(2, {"log.cleaner.threads": "2"})
        later = Collector(cluster, lambda: list(zookeeper), clock.now_ms)
        for tier in ("brokers", "topics", "configuration"):
            later.look(tier)
        assert sentences(kind="settings") == ["orders: retention.ms default → 1000"]
        assert sentences(kind="brokerconfig") == ["Broker 2: log.cleaner.threads default → 2"]

    def test_a_topic_that_is_made_anew_has_not_changed_its_settings(self, cluster, look):
        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        look()
        cluster.delete_topic("orders")
        look()
        cluster.create_topic("orders", 1, 1, {"retention.ms": "5"})
        look()
        assert len(sentences(kind="settings")) == 1


class TestFlood:
    def test_a_thousand_topics_at_once_are_a_few_lines_and_one_with_their_number(self, cluster, look):
        for number in range(1_000):
            cluster.create_topic(f"t{number}", 1, 1)
        look()
        for start in range(0, 1_000, 500):
            for number in range(start, start + 500):
                cluster.change_topic_settings(f"t{number}", {"retention.ms": "1000"})
            look()
        lines = Change.objects.filter(kind="settings")
        assert lines.count() == LINES_MAX + 1
        summary = lines.get(object_name=MANY)
        count = 1_000 - LINES_MAX
        assert summary.sentence == (
            f"{count} more changes of this kind at the same time, {count} of them: retention.ms default → 1000"
        )

    def test_after_a_quiet_minute_lines_are_single_again(self, cluster, look, clock):
        for number in range(50):
            cluster.create_topic(f"t{number}", 1, 1)
        look()
        for number in range(50):
            cluster.change_topic_settings(f"t{number}", {"retention.ms": "1000"})
        look()
        clock.advance(120_000)
        cluster.change_topic_settings("orders", {"retention.ms": "7"})
        look()
        assert "orders: retention.ms default → 7" in sentences(kind="settings")


class TestOnce:
    def test_a_rule_that_the_audit_of_a_large_import_does_not_name_is_nobodys(self):
        made = AuditEvent(object_type="access lists", before={}, after={"allow Read on orders": "1", "and more": "10"})
        named, other = (
            Change(kind=ChangeKind.ACL, values={rule: [None, "1"]}) for rule in ("allow Read on orders", "evil")
        )
        assert is_made_by(named, made)
        assert not is_made_by(other, made)

    def test_what_the_console_did_and_the_collector_saw_is_one_line_with_the_person(
        self, cluster, look, administrator, viewer, client_of, clock
    ):
        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        record_event(
            administrator, "change setting", "topic", "orders", {"retention.ms": "default"}, {"retention.ms": "1000"}
        )
        _now_is_that_of_the_audit(clock)
        look()
        (line,) = page_of(client_of(administrator), object="orders", kind="settings")
        assert (line.sentence, line.person) == ("orders: retention.ms default → 1000", "administrator")
        assert [item.kind for item in page_of(client_of(administrator), person="administrator")] == ["settings"]
        (line,) = page_of(client_of(viewer), object="orders", kind="settings")
        assert line.person == ""

    def test_who_made_a_change_outside_of_the_console_is_not_known_and_the_page_says_why(
        self, cluster, look, administrator, viewer, client_of, clock
    ):
        clock.advance(int(timezone.now().timestamp() * 1_000) - clock.now_ms() - 600_000)
        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        look()
        text = client_of(administrator).get("/history/", {"kind": "settings"}).content.decode()
        assert '<span class="muted">not known</span>' in text
        assert "the cluster does not tell which client did." in text
        text = client_of(viewer).get("/history/", {"kind": "settings"}).content.decode()
        assert "not known" not in text, "who may not see the audit reads of nobody"

    @pytest.mark.parametrize(
        ("kind", "age_ms", "object_name", "is_unknown"),
        [
            (ChangeKind.SETTINGS, 60_000, "orders", True),
            (ChangeKind.ACL, 60_000, "ACLs", True),
            (ChangeKind.SETTINGS, 5_000, "orders", False),
            (ChangeKind.SETTINGS, 60_000, MANY, False),
            (ChangeKind.GROUP, 60_000, "readers", False),
            (ChangeKind.LEADER, 60_000, "orders", False),
            (ChangeKind.BROKER, 60_000, "broker-1", False),
        ],
    )
    def test_only_what_a_client_did_is_by_somebody(self, kind, age_ms, object_name, is_unknown):
        change = Change(kind=kind, at_ms=1_000_000 - age_ms, object_name=object_name)
        assert is_by_unknown(change, 1_000_000) is is_unknown
        change.audit_id = 7
        assert not is_by_unknown(change, 1_000_000)

    @pytest.mark.parametrize(
        ("name", "after"),
        [("orders", {"retention.ms": "2000"}), ("other", {"retention.ms": "1000"}), ("orders", {"segment.ms": "1000"})],
    )
    def test_an_action_with_another_value_or_object_is_not_its_cause(
        self, name, after, cluster, look, administrator, clock
    ):
        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        record_event(administrator, "change setting", "topic", name, {}, after)
        _now_is_that_of_the_audit(clock)
        look()
        assert Change.objects.get(kind="settings").person == ""

    def test_a_row_of_the_audit_that_comes_after_the_look_counts_too(self, look, cluster, administrator, clock):
        _now_is_that_of_the_audit(clock)
        look()
        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        look()
        record_event(administrator, "change setting", "topic", "orders", {}, {"retention.ms": "1000"})
        attribute_changes(clock.now_ms())
        assert Change.objects.get(kind="settings").person == "administrator"

    def test_a_change_of_many_topics_is_the_person_s_in_each(self, look, cluster, administrator, client_of, clock):
        cluster.create_topic("bills", 1, 1)
        _now_is_that_of_the_audit(clock)
        look()
        for name in ("orders", "bills"):
            cluster.change_topic_settings(name, {"retention.ms": "1000"})
        after = {"orders": "1000", "bills": "1000"}
        record_event(administrator, "change setting of topics", "topics", "retention.ms", {}, after)
        look()
        assert {change.person for change in Change.objects.filter(kind="settings")} == {"administrator"}
        assert page_of(client_of(administrator), kind="action") == []


def _now_is_that_of_the_audit(clock) -> None:
    """The audit has the machine's time, the collector of these tests its own."""
    clock.advance(int(timezone.now().timestamp() * 1_000) - clock.now_ms())


class TestReach:
    def test_actions_are_for_who_may_see_the_audit(self, look, administrator, operator, client_of):
        record_event(administrator, "reset offsets", "consumer group", "nightly", {"orders-0": 9}, {"orders-0": 1})
        (line,) = page_of(client_of(administrator), kind="action")
        assert line.sentence == "reset offsets nightly: orders-0 9 → 1"
        assert not [item for item in page_of(client_of(operator)) if item.kind == "action"]
        assert not [
            item for item in page_of(client_of(operator), kind="action") if item.person or item.kind == "action"
        ]

    def test_refused_actions_are_named_so_and_logins_are_no_changes(self, look, administrator, client_of):
        record_event(administrator, "log in", "user", "administrator")
        record_event(administrator, "delete topic", "topic", "orders", result="refused", detail="Rules forbid it.")
        (line,) = page_of(client_of(administrator), kind="action")
        assert line.sentence == "delete topic orders (refused). Rules forbid it."
        assert line.tone == "warning"

    def test_names_out_of_reach_are_in_no_line(self, db, tenant, limited, viewer, client_of):
        write_events(
            [
                HistoryEvent("settings", "secret-plans", "secret-plans: retention.ms 1 → 2"),
                HistoryEvent("acl", "Topic secret-plans", "ACL added: on secret-plans"),
                HistoryEvent("quota", "user secret-user", "Quota of user secret-user"),
                HistoryEvent("schema", "subject secret-x", "secret-x"),
                HistoryEvent("schema", "secret-plans", "secret-plans-value"),
                HistoryEvent("offsets", "orders-app", "orders-app: offsets of secret-plans-0", topic="secret-plans"),
                HistoryEvent("offsets", "secret-app", "secret-app: offsets of orders-0", topic="orders"),
                HistoryEvent("group", "secret-app", "Group secret-app began"),
            ],
            1_000,
        )
        for person in (tenant, limited):
            assert "secret" not in client_of(person).get("/history/").content.decode()
            response = client_of(person).get("/history/?format=csv")
            assert b"secret" not in b"".join(response.streaming_content)
        assert len(page_of(client_of(viewer))) == 8

    def test_within_reach_lines_are_seen(self, db, tenant, client_of):
        write_events(
            [
                HistoryEvent("settings", "orders", "a"),
                HistoryEvent("offsets", "orders-app", "b", topic="orders"),
                HistoryEvent("schema", "orders", "c"),
            ],
            1_000,
        )
        assert [line.sentence for line in page_of(client_of(tenant))] == ["c", "b", "a"]

    def test_a_person_who_may_not_see_the_audit_cannot_search_by_person(self, db, operator, client_of):
        write_events([HistoryEvent("settings", "orders", "a"), HistoryEvent("settings", "bills", "b")], 1_000)
        Change.objects.filter(object_name="orders").update(person="administrator", audit_id=1)
        assert len(page_of(client_of(operator), person="administrator")) == 2


class TestOneLine:
    def test_all_kinds_and_actions_are_in_the_order_of_time(self, db, administrator: User, client_of):
        event = record_event(administrator, "set read-only", "console", "all")
        at_ms = int(event.at.timestamp() * 1000)
        write_events([HistoryEvent("leader", "orders", "before")], at_ms - 1_000)
        write_events([HistoryEvent("settings", "orders", "after")], at_ms + 1_000)
        client = client_of(administrator)
        assert [line.sentence for line in page_of(client)] == ["after", "set read-only all", "before"]
        _, *rows = csv.reader(io.StringIO(b"".join(client.get("/history/?format=csv").streaming_content).decode()))
        assert [row[4] for row in rows] == ["after", "set read-only all", "before"]
        until = event.at.isoformat()
        assert [line.sentence for line in page_of(client, until=until)] == ["set read-only all", "before"]

    def test_pages_follow_each_other_without_a_gap(self, db, administrator, client_of):
        for number in range(70):
            at = record_event(administrator, f"act {number}", "console", "x").at
            write_events([HistoryEvent("leader", "orders", f"change {number}")], int(at.timestamp() * 1000) + 1)
        client = client_of(administrator)
        pages = [list(client.get("/history/", {"page": n}).context["page"]) for n in (1, 2, 3)]
        assert [len(page) for page in pages] == [50, 50, 40]
        sentences = [line.sentence for page in pages for line in page]
        assert len(set(sentences)) == 140
        times = [line.at_ms for page in pages for line in page]
        assert times == sorted(times, reverse=True)

    def test_a_topic_s_line_has_its_settings_the_offsets_in_it_and_its_actions(
        self, look, cluster, administrator, client_of
    ):
        cluster.change_topic_settings("orders", {"retention.ms": "1000"})
        look()
        write_events([HistoryEvent("offsets", "app", "app: offsets", topic="orders")], 1)
        record_event(administrator, "purge", "topic", "orders")
        page = client_of(administrator).get("/topics/orders/+history/").context["page"]
        assert {line.kind for line in page} >= {"settings", "offsets", "action"}

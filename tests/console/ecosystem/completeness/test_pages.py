"""The message audit's pages, from what counters write into the audit topic to what a person reads."""

from dataclasses import replace

import pytest

from broker.audit.increment import AUDIT_TOPIC, BROKER, AuditTier, Chain, Increment
from console.ecosystem.completeness.collect import KEPT_MS, CompletenessCollector
from console.ecosystem.completeness.models import AuditedTopic
from console.kit.access.models import NameRule
from console.state.clusters.models import Topic
from tests.broker.audit.made import MINUTE, increment_of, records
from tests.fakes.gateway import FakeGateway

PRODUCED, APPENDED, CONSUMED = TIERS = tuple(AuditTier)[:3]
#: The minute that is under way.
NOW = 29_000_000


class Audit:
    """Writes what counters would; a minute of the story is one of the records' time."""

    def __init__(self):
        self.gateway = FakeGateway(broker_count=1)
        self.clock_ms = NOW * MINUTE
        self.collector = CompletenessCollector(self.gateway, lambda: self.clock_ms)
        self.topics = {"t", "u"}

    def begin(self):
        self.gateway.create_topic(AUDIT_TOPIC, 1, 1)
        self.topics.add(AUDIT_TOPIC)
        Topic.objects.bulk_create(Topic(name=name) for name in ("t", "u"))

    def say(self, tier, *expected, topic="t", **named):
        increment = increment_of(tier, *expected, at_ms=self.clock_ms, **named)
        increment = replace(increment, chain=increment.chain._replace(topic=topic))
        self.gateway.produce_record(AUDIT_TOPIC, 0, increment.key(), increment.to_bytes())

    def look(self):
        return self.collector.look(self.topics)


@pytest.fixture
def audit(db, monkeypatch):
    audit = Audit()
    monkeypatch.setattr("console.ecosystem.completeness.views.now_ms", lambda: audit.clock_ms)
    return audit


def page(client_of, user, path="/completeness/", **query) -> str:
    response = client_of(user).get(path, query)
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode() if response.streaming else response.content.decode()


def test_without_a_counter_it_says_how_to_get_one(audit, viewer, client_of):
    assert audit.look() is False
    assert "make up AUDIT=1" in page(client_of, viewer)


def test_tiers_that_agree_make_a_topic_complete_until_the_end_of_the_window(audit, viewer, client_of):
    audit.begin()
    for tier in TIERS:
        audit.say(tier, *records(0, 1, 2, minute=NOW - 10))
    assert audit.look() is False
    row = AuditedTopic.objects.get()
    assert (row.name, row.complete_until_ms, row.finding_count) == ("t", (NOW - 9) * MINUTE, 0)
    html = page(client_of, viewer)
    assert "agrees</span>" in html
    assert page(client_of, viewer, "/completeness/t/").count(">complete</span>") == 1


@pytest.mark.parametrize(
    ("appended", "word"), [([0, 2], "missing"), ([0, 1, 1, 2], "duplicate"), ([0, 2, 2], "mismatch")]
)
def test_what_is_planted_is_found_named_with_its_offsets_and_a_reason_of_health(
    audit, operator, client_of, appended, word
):
    audit.begin()
    audit.say(PRODUCED, *records(0, 1, 2, minute=NOW - 10))
    audit.say(APPENDED, *records(*appended, minute=NOW - 10))
    audit.say(PRODUCED, *records(5, 6, minute=NOW - 9), topic="u")
    audit.say(APPENDED, *records(5, 6, minute=NOW - 9), topic="u")
    assert audit.look() is True
    assert {row.name: row.finding_count for row in AuditedTopic.objects.all()} == {"t": 1, "u": 0}
    html = page(client_of, operator, "/completeness/t/")
    assert f'<span class="badge critical">{word}</span>' in html
    assert "/topics/t/+records/?place=offset&amp;partition=0&amp;offset=0" in html
    assert 'class="number critical"' in html or word == "mismatch"
    overview = client_of(operator).get("/").content.decode()
    assert "Of t, what was counted at one tier is not what was counted at the next, in 1 window." in overview
    assert "Topic u" not in overview


def test_a_tier_that_lags_is_late_and_no_finding(audit, viewer, client_of):
    audit.begin()
    audit.say(APPENDED, *records(0, 1, minute=NOW - 10))
    audit.say(CONSUMED, *records(0, minute=NOW - 10), source="billing")
    assert audit.look() is False
    assert AuditedTopic.objects.get().late_count == 1
    assert "late</span>" in page(client_of, viewer)


def test_a_window_that_should_be_complete_is_a_reason_of_health_while_somebody_counts(
    audit, operator, client_of, monkeypatch
):
    monkeypatch.setattr("console.signals.overview.facts.now_ms", lambda: audit.clock_ms)
    audit.begin()
    for tier in TIERS:
        audit.say(tier, *records(0, minute=NOW - 12))
    audit.say(APPENDED, *records(1, 2, minute=NOW - 10))
    audit.say(CONSUMED, *records(1, minute=NOW - 10), source="billing")
    audit.look()
    overview = client_of(operator).get("/").content.decode()
    assert "1 window of the message audit of t that should be complete by now is not: a tier lags" in overview
    audit.clock_ms += 10 * MINUTE
    assert "should be complete by now" not in client_of(operator).get("/").content.decode()


def test_windows_become_complete_as_the_clock_goes_without_another_word(audit):
    audit.begin()
    for tier in TIERS:
        audit.say(tier, *records(0, 1, minute=NOW - 1))
    audit.look()
    assert AuditedTopic.objects.get().complete_until_ms is None
    audit.clock_ms += 2 * MINUTE
    audit.look()
    assert AuditedTopic.objects.get().complete_until_ms == NOW * MINUTE


def test_what_is_read_on_is_judged_with_what_was_read(audit):
    audit.begin()
    audit.say(APPENDED, *records(0, 1, minute=NOW - 10))
    audit.say(CONSUMED, *records(0, minute=NOW - 10))
    audit.look()
    audit.say(CONSUMED, *records(1, minute=NOW - 10), sequence=1)
    audit.look()
    row = AuditedTopic.objects.get()
    assert (row.late_count, row.complete_until_ms) == (0, (NOW - 9) * MINUTE)


def test_what_is_old_is_forgotten_and_leaves_no_finding_behind(audit):
    audit.begin()
    for number, minute in enumerate((NOW - 10, NOW - 9, (NOW + 500))):
        for tier in (APPENDED, CONSUMED):
            audit.say(tier, *records(number, minute=minute), sequence=number)
    audit.look()
    audit.clock_ms = (NOW + 502) * MINUTE
    assert audit.clock_ms - KEPT_MS > (NOW - 8) * MINUTE
    audit.look()
    (story, _) = audit.collector._ledger.stories.values()
    assert [set(increment.windows) for increment in story.increments] == [{(NOW + 500) * MINUTE}]
    row = AuditedTopic.objects.get()
    assert (row.finding_count, row.complete_until_ms) == (0, (NOW + 501) * MINUTE)


def test_topics_one_may_not_see_are_not_shown(audit, viewer, client_of):
    audit.begin()
    audit.say(APPENDED, *records(0, minute=NOW - 10))
    audit.say(APPENDED, *records(0, minute=NOW - 10), topic="u")
    audit.look()
    NameRule.objects.create(user=viewer, resource="topic", pattern="u", level="nothing")
    for text in (page(client_of, viewer), page(client_of, viewer, format="csv")):
        assert "t" in text
        assert "/completeness/u/" not in text
        assert '"u"' not in text
    assert client_of(viewer).get("/completeness/u/").status_code == 403


def test_what_is_no_increment_is_passed_over(audit):
    audit.begin()
    for junk in (None, b"", b"{", b"[]", b"\xff" * 100):
        audit.gateway.produce_record(AUDIT_TOPIC, 0, b"k", junk)
    audit.say(APPENDED, *records(0, minute=NOW - 10))
    audit.look()
    assert AuditedTopic.objects.count() == 1


def test_rows_go_with_the_audit_and_with_their_topics(audit):
    audit.begin()
    audit.say(APPENDED, *records(0, minute=NOW - 10))
    audit.look()
    audit.topics.discard("t")
    audit.look()
    assert not AuditedTopic.objects.exists()
    audit.topics.add("t")
    audit.topics.discard(AUDIT_TOPIC)
    assert audit.look() is False


def test_a_hostile_name_in_what_is_counted_is_text(audit, viewer, client_of):
    audit.begin()
    audit.say(APPENDED, *records(0, minute=NOW - 10))
    audit.say(CONSUMED, *records(0, minute=NOW - 10), source="<b>group</b>")
    audit.look()
    assert "<b>group</b>" not in page(client_of, viewer, "/completeness/t/")


def test_one_tier_alone_is_said_to_be_nothing_to_compare(audit, viewer, client_of):
    audit.begin()
    audit.say(APPENDED, *records(0, minute=NOW - 10))
    audit.look()
    assert "one tier only</span>" in page(client_of, viewer)


def test_groups_one_may_not_see_are_in_no_column_no_finding_and_no_file(audit, viewer, client_of):
    audit.begin()
    audit.say(APPENDED, *records(0, 1, minute=NOW - 10))
    for group in ("billing", "secret"):
        audit.say(CONSUMED, *records(0, minute=NOW - 10), source=group, end=2)
    audit.say(AuditTier.SUNK, *records(0, 1, minute=NOW - 10), source="vault")
    audit.look()
    assert "consumed secret" in page(client_of, viewer, "/completeness/t/")
    for pattern in ("secret", "connect-vault"):
        NameRule.objects.create(user=viewer, resource="group", pattern=pattern, level="nothing")
    for more in ({}, {"format": "csv"}):
        text = page(client_of, viewer, "/completeness/t/", **more)
        assert "consumed billing" in text
        assert not any(word in text for word in ("secret", "vault"))


def counted_by_brokers(audit, *expected, **named):
    increment = increment_of(APPENDED, *expected, at_ms=audit.clock_ms, source=BROKER, **named)
    windows = {window: replace(tally, checksum=0) for window, tally in increment.windows.items()}
    increment = replace(increment, windows=windows, term=1, is_by_header=True)
    audit.gateway.produce_record(AUDIT_TOPIC, 0, increment.key(), increment.to_bytes())


def committed(audit, group, start, end, sequence=0):
    step = Increment(Chain(AuditTier.COMMITTED, group, "t", 0), "e", sequence, audit.clock_ms, {}, start, end)
    audit.gateway.produce_record(AUDIT_TOPIC, 0, step.key(), step.to_bytes())


def test_ordinary_groups_have_a_column_and_where_they_went_is_told_to_who_may_see_them(audit, viewer, client_of):
    audit.begin()
    counted_by_brokers(audit, *records(0, 1, 2, minute=NOW - 10))
    committed(audit, "billing", 0, 3)
    assert audit.look() is False
    row = AuditedTopic.objects.get()
    assert (row.complete_until_ms, row.windows[0][2]["committed billing"][0]) == ((NOW - 9) * MINUTE, 3)
    committed(audit, "billing", 1, 3, sequence=1)
    assert audit.look() is False
    row.refresh_from_db()
    assert row.finding_count == 0
    html = page(client_of, viewer, "/completeness/t/")
    assert "agrees</span>" in html
    assert "group billing went back over partition 0, offsets 1 to 2" in html
    assert "Where tiers disagree" not in html
    NameRule.objects.create(user=viewer, resource="group", pattern="billing", level="nothing")
    assert "billing" not in page(client_of, viewer, "/completeness/t/")
    assert "billing" not in page(client_of, viewer, "/completeness/t/", format="csv")


def test_what_a_group_was_set_past_is_a_warning_and_no_finding(audit, viewer, client_of):
    audit.begin()
    counted_by_brokers(audit, *records(0, 1, 2, minute=NOW - 10))
    committed(audit, "billing", 0, 1)
    committed(audit, "billing", 3, 3, sequence=1)
    assert audit.look() is False
    html = page(client_of, viewer, "/completeness/t/")
    assert '<span class="badge warning">skipped</span>' in html
    assert "was set forward, by a client that is no member, past partition 0, offsets 1 to 2" in html

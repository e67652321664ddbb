"""The store of deliveries: what counters said is in the sums once, whoever dies when, and nothing grows for ever."""

from dataclasses import replace

import pytest
from django.db import connection, transaction

from broker.audit.increment import AUDIT_TOPIC, AuditTier
from broker.audit.latency import Latency
from console.ecosystem.completeness import collect, delivery_store
from console.ecosystem.completeness.collect import CompletenessCollector
from console.ecosystem.completeness.models import AuditPosition, DeliveryRow, DeliverySeries
from console.ecosystem.completeness.points import TIERS, merged, unpack
from console.ecosystem.completeness.reader import KEPT_MS, start_of
from console.kit.gateway.errors import GatewayError
from console.kit.gateway.records.interface import OffsetSpan
from console.state.clusters.models import Topic
from tests.broker.audit.made import MINUTE, increment_of, records
from tests.fakes.gateway import FakeGateway

NOW = 29_000_000
PARTITIONS = 2


class Killed(BaseException):
    """Nobody handles it: what is in memory is gone."""


class Audit:
    """A cluster whose audit topic counters write to, and collectors that come and go."""

    def __init__(self, now_minute=NOW):
        self.clock_ms = now_minute * MINUTE
        self.gateway = FakeGateway(broker_count=1)
        self.gateway._now_ms = lambda: self.clock_ms
        self.gateway.create_topic(AUDIT_TOPIC, PARTITIONS, 1)
        self.topics = {AUDIT_TOPIC, "t", "u"}
        self.sequences = {}
        self.begin()

    def begin(self):
        self.collector = CompletenessCollector(self.gateway, lambda: self.clock_ms)

    def say(self, tier, *offsets, minute, source="s", topic="t", latency_ms=None, **named):
        key = tier, source, topic
        sequence = self.sequences[key] = self.sequences.get(key, -1) + 1
        increment = increment_of(
            tier, *records(*offsets, minute=minute), source=source, at_ms=self.clock_ms, sequence=sequence,
            is_last=False, **named,
        )  # fmt: skip
        latencies = {}
        if latency_ms is not None:
            latencies = {minute * MINUTE: Latency()}
            for _ in offsets:
                latencies[minute * MINUTE].add(latency_ms)
        increment = replace(increment, chain=increment.chain._replace(topic=topic), latencies=latencies)
        at = len(source) % PARTITIONS
        self.gateway.produce_record(AUDIT_TOPIC, at, increment.key(), increment.to_bytes())

    def look(self, times=1):
        for _ in range(times):
            self.clock_ms += collect.WRITTEN_EVERY_MS
            self.collector.look(self.topics)


@pytest.fixture
def audit(db):
    return Audit()


def sums(tier=TIERS[0]):
    """(topic, tier, reader) → what all its rows of a resolution come to."""
    results = {}
    for row in DeliveryRow.objects.filter(tier=tier.number).select_related("series"):
        key = row.series.topic, row.series.tier, row.series.reader
        results.setdefault(key, []).extend(unpack(bytes(row.points), tier, row.begins_ms).values())
    return {key: (point.count, point.again) for key, item in results.items() for point in [merged(item)]}


def test_each_resolution_has_what_was_said_by_topic_tier_and_reader(audit):
    for number, minute in enumerate((NOW - 400, NOW - 9, NOW - 8)):
        audit.say(AuditTier.APPENDED, *range(10 * number, 10 * number + 10), minute=minute, source="counter")
    audit.say(AuditTier.CONSUMED, 10, 11, minute=NOW - 9, source="billing")
    audit.say(AuditTier.CONSUMED, 20, 21, minute=NOW - 8, source="billing", latency_ms=40)
    audit.look()
    consumed = {("t", "consumed", "billing"): (4, 0)}
    assert sums(TIERS[0]) == {("t", "appended", "counter"): (20, 0), **consumed}
    assert sums(TIERS[2]) == sums(TIERS[1]) == {("t", "appended", "counter"): (30, 0), **consumed}
    series = DeliverySeries.objects.get(tier="consumed")
    assert series.p50_ms == pytest.approx(40, rel=0.06)


def test_a_collector_that_starts_anew_goes_on_where_the_sums_end_and_reads_no_week(audit, monkeypatch):
    requests = []
    opened = audit.gateway.open_records
    monkeypatch.setattr(
        audit.gateway, "open_records", lambda *arguments: (requests.append(arguments[1]), opened(*arguments))[1]
    )
    for number in range(3):
        audit.say(AuditTier.APPENDED, number, minute=NOW - 3 + number)
    audit.look()
    before = sums()
    audit.clock_ms += KEPT_MS + MINUTE
    audit.say(AuditTier.APPENDED, 3, minute=NOW + 1)
    audit.begin()
    audit.look()
    at = 1
    assert [item[at] for item in requests] == [0, 3]
    assert before == {("t", "appended", "s"): (3, 0)}
    assert sums(TIERS[2]) == {("t", "appended", "s"): (4, 0)}


def test_who_was_away_for_longer_than_the_ledger_reaches_adds_up_all_of_it(audit):
    audit.say(AuditTier.APPENDED, 0, minute=NOW)
    audit.look()
    for number in range(1, 49):
        audit.clock_ms = (NOW + 30 * number) * MINUTE
        audit.say(AuditTier.APPENDED, number, minute=NOW + 30 * number)
    audit.clock_ms += 12 * 60 * MINUTE
    audit.begin()
    audit.look()
    assert sums(TIERS[2]) == {("t", "appended", "s"): (1 + 48, 0)}


def test_what_is_read_again_after_a_restart_is_known_to_be_that(audit):
    audit.say(AuditTier.CONSUMED, 0, 1, 2, minute=NOW - 3)
    audit.look()
    audit.begin()
    audit.say(AuditTier.CONSUMED, 0, 1, 2, 3, minute=NOW - 3)
    audit.look()
    assert sums() == {("t", "consumed", "s"): (7, 3)}


def tell_a_story(audit):
    for number in range(4):
        audit.say(AuditTier.APPENDED, *range(number * 10, number * 10 + 10), minute=NOW - 9 + number, source="counter")
        audit.say(AuditTier.CONSUMED, *range(number * 10, number * 10 + 10), minute=NOW - 9 + number, source="billing")
        if number == 1:
            audit.say(AuditTier.CONSUMED, *range(20, 40), minute=NOW - 6, source="billing", topic="u")
            audit.say(AuditTier.CONSUMED, *range(30, 40), minute=NOW - 6, source="billing", topic="u")
        audit.look()


def statements_of(audit):
    """How many statements a run without a death needs, and what the sums are then."""
    results = []

    def count(execute, sql, parameters, many, context):
        results.extend([sql] * ("SAVEPOINT" not in sql))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(count):
        tell_a_story(audit)
    return len(results), {tier.number: sums(tier) for tier in TIERS}


def test_whoever_is_killed_at_any_statement_loses_and_doubles_nothing(db):
    total, wanted = statements_of(Audit())
    assert wanted[0] == {
        ("t", "appended", "counter"): (40, 0), ("t", "consumed", "billing"): (40, 0),
        ("u", "consumed", "billing"): (30, 10),
    }  # fmt: skip
    for fatal in range(1, total, 9):
        for model in (DeliverySeries, AuditPosition):
            model.objects.all().delete()
        audit, left = Audit(), [fatal]

        def kill(execute, sql, parameters, many, context, left=left):
            left[0] -= "SAVEPOINT" not in sql
            if left[0] == 0:
                left[0] = -1
                raise Killed(sql)
            return execute(sql, parameters, many, context)

        looked = audit.look

        def look(audit=audit, looked=looked):
            with connection.execute_wrapper(kill):
                try:
                    looked()
                except Killed:
                    transaction.set_rollback(False)
                    audit.begin()

        audit.look = look
        tell_a_story(audit)
        looked(2)
        assert {tier.number: sums(tier) for tier in TIERS} == wanted, fatal


def test_a_cluster_that_does_not_answer_costs_neither_the_ledger_nor_a_sum(audit, monkeypatch):
    audit.say(AuditTier.CONSUMED, 0, 1, minute=NOW - 3)
    audit.look()
    audit.say(AuditTier.CONSUMED, 0, 1, 2, minute=NOW - 3)
    stream = audit.collector._reader._stream

    def refuse(*_):
        stream._positions[0] += 1
        stream._positions[1] += 1
        raise GatewayError("no")

    with monkeypatch.context() as patched:
        patched.setattr(stream, "read", refuse)
        with pytest.raises(GatewayError):
            audit.look()
    audit.look()
    assert sums() == {("t", "consumed", "s"): (5, 2)}


def test_another_topic_of_the_name_is_read_from_its_beginning(audit):
    Topic.objects.create(name=AUDIT_TOPIC, topic_id="first")
    for number in range(3):
        audit.say(AuditTier.APPENDED, number, minute=NOW - 3)
    audit.look()
    assert {position.topic_id for position in AuditPosition.objects.all()} == {"first"}
    audit.gateway.delete_topic(AUDIT_TOPIC)
    audit.gateway.create_topic(AUDIT_TOPIC, PARTITIONS, 1)
    Topic.objects.update(topic_id="second")
    audit.begin()
    audit.say(AuditTier.APPENDED, 5, minute=NOW - 2)
    audit.look()
    assert sums() == {("t", "appended", "s"): (4, 0)}


def test_a_topic_that_nobody_sees_for_a_moment_is_not_added_up_again(audit):
    audit.say(AuditTier.APPENDED, 0, minute=NOW - 3)
    audit.look()
    audit.topics.discard(AUDIT_TOPIC)
    audit.look()
    audit.topics.add(AUDIT_TOPIC)
    audit.look()
    assert sums() == {("t", "appended", "s"): (1, 0)}


def test_sums_of_topics_that_are_gone_and_rows_whose_time_is_over_are_forgotten(audit):
    audit.say(AuditTier.APPENDED, 0, minute=NOW - 3)
    audit.say(AuditTier.APPENDED, 0, minute=NOW - 3, topic="u")
    audit.look()
    audit.topics.discard("u")
    audit.clock_ms += TIERS[0].kept_ms + 2 * TIERS[0].row_ms
    audit.look()
    assert not sums(TIERS[0])
    assert sums(TIERS[2]) == {("t", "appended", "s"): (1, 0)}
    audit.clock_ms += TIERS[2].kept_ms + 2 * TIERS[2].row_ms
    audit.look()
    assert not DeliverySeries.objects.exists()


def test_nobody_can_name_more_readers_than_are_kept(audit, monkeypatch):
    monkeypatch.setattr(delivery_store, "SERIES_MAX", 5)
    for number in range(20):
        audit.say(AuditTier.CONSUMED, 0, minute=NOW - 3, source=f"group {number}")
    audit.say(AuditTier.CONSUMED, 0, minute=NOW - 3, source="x" * 600)
    audit.say(AuditTier.CONSUMED, 0, minute=NOW - 3, topic="no such topic")
    audit.look()
    assert DeliverySeries.objects.count() == 5
    audit.look()
    assert sum(count for count, _ in sums().values()) == 5


def test_sums_wait_while_there_are_many_of_them_but_not_for_ever(audit, monkeypatch):
    monkeypatch.setattr(collect, "FEW_STEPS", 3)
    monkeypatch.setattr(collect, "STEPS_MAX", 10)
    audit.look()
    for number in range(5):
        audit.say(AuditTier.CONSUMED, 0, minute=NOW - 3, source=f"{number}")
    audit.look()
    assert not sums()
    for number in range(10):
        audit.say(AuditTier.CONSUMED, 0, minute=NOW - 3, source=f"more {number}")
    audit.look()
    assert len(sums()) == 15


@pytest.mark.parametrize(
    ("summed", "recent", "start"),
    [(None, None, 90), (None, 40, 40), (70, 40, 40), (30, 40, 30), (30, None, 30), (95, None, 90), (5, 40, 10)],
)
def test_where_reading_begins(summed, recent, start):
    assert start_of(OffsetSpan(10, 90), summed, recent) == start


def test_the_ledger_keeps_less_where_very_much_is_counted_and_nothing_for_years(audit, monkeypatch):
    monkeypatch.setattr(collect, "LEDGER_MAX", 100)
    far = NOW + 10 * 366 * 24 * 60
    for minute in range(NOW - 350, NOW):
        offset = minute - NOW + 400
        windows = (offset, minute), (offset, far + minute)
        increment = increment_of(AuditTier.APPENDED, *[(at * MINUTE + number, number, b"") for number, at in windows])
        audit.gateway.produce_record(
            AUDIT_TOPIC,
            0,
            b"",
            replace(increment, sequence=offset, start=offset, end=offset + 1, at_ms=minute * MINUTE).to_bytes(),
        )
    audit.look(2)
    audit.clock_ms += 600_000
    audit.look()
    ledger = audit.collector._ledger
    assert 10 < ledger.size <= 100
    assert max(window for story in ledger.stories.values() for window in story.windows()) == (NOW - 1) * MINUTE

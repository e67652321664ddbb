"""The pages of deliveries: what was expected and what came, the worst first, and for whom nothing of it is hidden."""

import pytest

from broker.audit.increment import AUDIT_TOPIC, AuditTier
from console.ecosystem.completeness.models import DeliverySeries
from console.kit.access.models import NameRule
from console.state.clusters.models import Topic
from tests.console.ecosystem.completeness.test_deliveries import MINUTE, NOW, Audit
from tests.console.ecosystem.completeness.test_pages import page

LIST, ONE = "/completeness/+delivery/", "/completeness/t/+delivery/"


@pytest.fixture
def audit(db, monkeypatch):
    audit = Audit()
    Topic.objects.bulk_create(Topic(name=name) for name in ("t", "u", AUDIT_TOPIC))
    for module in ("delivery_views", "views"):
        monkeypatch.setattr(f"console.ecosystem.completeness.{module}.now_ms", lambda: audit.clock_ms)
    return audit


@pytest.fixture
def delivered_audit(audit):
    """Twenty windows of ten records; `whole` has them all, the others not."""
    for number in range(20):
        offsets, minute = range(number * 10, number * 10 + 10), NOW - 30 + number
        audit.say(AuditTier.APPENDED, *offsets, minute=minute, source="counter")
        audit.say(AuditTier.CONSUMED, *offsets, minute=minute, source="whole", latency_ms=50)
        audit.say(
            AuditTier.CONSUMED,
            *offsets[: 9 if number == 15 else 10],
            minute=minute,
            source="skips",
            end=offsets[-1] + 1,
        )
        if number < 12:
            audit.say(AuditTier.CONSUMED, *offsets, minute=minute, source="slow", latency_ms=70_000)
    for number in (16, 17):
        audit.say(AuditTier.CONSUMED, *range(number * 10, number * 10 + 10), minute=NOW - 30 + number, source="rereads")
    for number in (16, 17, 18, 19):
        audit.say(AuditTier.CONSUMED, *range(number * 10, number * 10 + 10), minute=NOW - 30 + number, source="rereads")
    audit.look()
    return audit


def row(reader):
    return DeliverySeries.objects.get(reader=reader)


def test_without_a_reader_it_says_how_to_get_one(audit, viewer, client_of):
    assert "broker.audit.hook" in page(client_of, viewer, LIST)
    assert "No reader tells" in page(client_of, viewer, ONE)


def test_the_page_of_a_topic_follows_while_its_range_is_open(delivered_audit, viewer, client_of):
    version = 'id="completeness-version"'
    assert version in page(client_of, viewer, ONE)
    assert version in page(client_of, viewer, f"{ONE}?last=6h")
    assert version not in page(client_of, viewer, f"{ONE}?to=2026-01-01T00:00Z")


def test_the_worst_is_first_and_each_has_its_word(delivered_audit, viewer, client_of):
    html = page(client_of, viewer, LIST)
    places = [html.index(f'title="consumed {name}"') for name in ("skips", "slow", "rereads", "whole")]
    assert places == sorted(places)
    for word in ("lost", "behind", "reads again", "delivered"):
        assert html.count(f">{word}</span>") == 1
    assert (row("whole").delivered, row("slow").delivered) == (100.0, pytest.approx(100 * 11 / 19))
    assert (row("rereads").again, row("rereads").received) == (10, 40)
    assert row("slow").p50_ms == pytest.approx(70_000, rel=0.06)


def test_a_reader_of_which_nothing_can_be_compared_has_lost_nothing(audit, viewer, client_of):
    audit.say(AuditTier.CONSUMED, 0, 1, minute=NOW - 9, source="alone")
    audit.look()
    assert "nothing to compare</span>" in page(client_of, viewer, LIST)
    assert row("alone").delivered is None


def test_what_lay_there_before_a_group_came_was_not_for_it(audit):
    for number in range(20):
        audit.say(AuditTier.APPENDED, number, minute=NOW - 30 + number, source="counter")
        if number > 14:
            audit.say(AuditTier.CONSUMED, number, minute=NOW - 30 + number, source="new")
    audit.look()
    assert (row("new").delivered, row("new").expected) == (100.0, 4)


def test_young_windows_are_not_yet_expected(audit):
    for tier, minutes in ((AuditTier.APPENDED, range(NOW - 9, NOW)), (AuditTier.CONSUMED, range(NOW - 9, NOW - 2))):
        for minute in minutes:
            audit.say(tier, minute - NOW + 9, minute=minute, source="g")
    audit.look()
    assert row_of(AuditTier.CONSUMED).delivered == 100.0
    audit.clock_ms += 5 * MINUTE
    audit.say(AuditTier.APPENDED, 9, minute=NOW + 3, source="g")
    audit.look()
    assert row_of(AuditTier.CONSUMED).delivered == pytest.approx(100 * 6 / 8)


def row_of(tier):
    return DeliverySeries.objects.get(tier=tier)


def test_a_topics_page_draws_what_was_expected_and_what_came(delivered_audit, operator, client_of):
    html = page(client_of, operator, ONE, reader="consumed slow", span="1h")
    assert 'class="under" d="M' in html
    assert 'class="over" d=""' in html
    assert "expected 10 · received 10" in html
    assert "expected 10 · received 0 · 10 missing" in html
    assert "/topics/t/+records/?from=20" in html
    again = page(client_of, operator, ONE, reader="consumed rereads")
    assert 'class="over" d="M' in again
    assert "received 20 · 10 again" in again
    lost = page(client_of, operator, ONE, reader="consumed skips")
    assert "1 counted at appended missing at consumed skips" in lost
    assert "place=offset&amp;partition=0" in lost


@pytest.mark.parametrize("span", ["15m", "1h", "6h", "24h", "7d", "30d"])
def test_every_zoom_has_all_that_was_counted(delivered_audit, viewer, client_of, span):
    rows = page(client_of, viewer, ONE, reader="consumed whole", span=span, format="csv").splitlines()[1:]
    received = sum(int(part.split(",")[5].strip('"')) for part in rows)
    assert len(rows) <= 151
    assert received == {"15m": 50}.get(span, 200)


def test_a_file_has_every_reader(delivered_audit, viewer, client_of):
    text = page(client_of, viewer, LIST, format="csv")
    assert [line.split(",")[2] for line in text.splitlines()[1:]] == ['"skips"', '"slow"', '"rereads"', '"whole"']


def test_topics_and_groups_one_may_not_see_are_not_shown(delivered_audit, viewer, client_of):
    delivered_audit.say(AuditTier.SUNK, *range(10), minute=NOW - 9, source="warehouse")
    delivered_audit.say(AuditTier.CONSUMED, *range(10), minute=NOW - 9, source="other", topic="u")
    delivered_audit.look()
    for pattern, hidden in (("slow", "slow"), ("connect-warehouse", "warehouse")):
        NameRule.objects.create(user=viewer, resource="group", pattern=pattern, level="nothing")
        for path in (LIST, ONE):
            for more in ({}, {"format": "csv"}):
                text = page(client_of, viewer, path, **more)
                assert "whole" in text
                assert hidden not in text
        assert client_of(viewer).get(ONE, {"reader": f"consumed {hidden}"}).status_code == 404
    NameRule.objects.create(user=viewer, resource="topic", pattern="u", level="nothing")
    assert "other" not in page(client_of, viewer, LIST)
    assert client_of(viewer).get("/completeness/u/+delivery/").status_code == 403


def test_nobody_without_a_right_sees_any_of_it(delivered_audit, outsider, client_of):
    assert client_of(outsider).get(LIST).status_code == 403


def test_a_reader_that_has_said_nothing_for_minutes_is_not_called_good(delivered_audit, viewer, client_of):
    delivered_audit.clock_ms += 10 * MINUTE
    assert "delivered</span>" not in page(client_of, viewer, LIST)
    assert page(client_of, viewer, LIST).count("not told now</span>") == 3


def test_what_is_counted_again_in_the_log_is_there_once(audit):
    for source in ("counter", "another"):
        for minute in range(NOW - 9, NOW - 3):
            audit.say(AuditTier.APPENDED, minute - NOW + 9, minute=minute, source=source)
    audit.say(AuditTier.APPENDED, *range(6), minute=NOW - 6, source="another", epoch="begun anew")
    for minute in range(NOW - 9, NOW - 3):
        audit.say(AuditTier.CONSUMED, minute - NOW + 9, minute=minute, source="g")
    audit.look()
    assert row("g").expected == 5 + 5

"""The database chooses the groups in trouble by the same rule as a page colours them."""

import itertools

import pytest

from console.state.consumers.models import ConsumerGroup
from console.state.consumers.queries import groups_in_trouble

NOW_MS = 1_800_000_000_000
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
SPANS = (1, MINUTE, 59 * MINUTE, HOUR, 61 * MINUTE, 9 * HOUR, DAY, 10 * DAY)


@pytest.fixture
def _now(monkeypatch):
    monkeypatch.setattr("console.state.consumers.models.now_ms", lambda: NOW_MS)


@pytest.mark.usefixtures("_now", "db")
def test_the_database_and_the_page_agree_on_what_expires_soon():
    for number, (waited, left) in enumerate(itertools.product(SPANS, SPANS)):
        ConsumerGroup.objects.create(
            name=f"g{number}", state="Empty", coordinator=1, verdict="ok", lag=1,
            behind_since_ms=NOW_MS - waited, expires_at_ms=NOW_MS + left,
        )  # fmt: skip
    ConsumerGroup.objects.create(name="caught up", state="Empty", coordinator=1, verdict="ok", lag=0)
    chosen = set(groups_in_trouble(NOW_MS).values_list("name", flat=True))
    assert chosen == {group.name for group in ConsumerGroup.objects.all() if group.is_expiring}
    assert 0 < len(chosen) < len(SPANS) ** 2


@pytest.mark.usefixtures("_now", "db")
def test_who_reads_badly_comes_first():
    for name, verdict, severity in (("a", "ok", 0), ("b", "stopped", 5), ("c", "lost records", 9)):
        ConsumerGroup.objects.create(name=name, state="Empty", coordinator=1, verdict=verdict, severity=severity)
    assert [item.name for item in groups_in_trouble(NOW_MS)] == ["c", "b"]


@pytest.mark.usefixtures("_now", "db")
def test_a_group_that_lost_records_is_in_trouble_though_it_reads_on():
    values = {"state": "Stable", "coordinator": 1, "member_count": 1, "verdict": "ok", "lag": 0, "lost": 7}
    recent = ConsumerGroup.objects.create(name="recent", lost_at_ms=NOW_MS - MINUTE, **values)
    past = ConsumerGroup.objects.create(name="past", lost_at_ms=NOW_MS - HOUR, **values)
    left = ConsumerGroup.objects.create(
        name="left", lost_at_ms=NOW_MS, empty_since_ms=NOW_MS - 2 * DAY, **values | {"verdict": "lost records"}
    )
    stuck = ConsumerGroup.objects.create(name="stuck", lost_at_ms=NOW_MS - HOUR, **values | {"verdict": "lost records"})
    assert {item.name for item in groups_in_trouble(NOW_MS)} == {"recent", "past", "left", "stuck"}
    assert [group.is_losing for group in (recent, past, left, stuck)] == [True, False, False, True]

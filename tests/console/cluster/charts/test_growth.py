"""How much each topic grew within a day, from the series that the collector keeps."""

import pytest

from console.cluster.charts.growth import save_growth, size_a_day_ago
from console.cluster.charts.measures import Reading
from console.cluster.charts.recorder import Recorder
from console.cluster.charts.store import RowStore
from console.cluster.charts.tiers import UNKNOWN
from console.state.clusters.models import Topic

_HOUR_MS = 3_600_000
NOW = 500_000 * _HOUR_MS


@pytest.mark.parametrize(
    ("points", "size"),
    [
        ([(NOW - 25, 7.0)], 7.0),
        ([(NOW - 30, 5.0), (NOW - 25, 7.0), (NOW - 23, 9.0)], 7.0),
        ([(NOW - 3, 2.0), (NOW - 1, 9.0)], 2.0),
        ([(NOW - 30, 5.0), (NOW - 25, UNKNOWN), (NOW - 23, 9.0)], 5.0),
        ([(NOW - 25, UNKNOWN)], None),
        ([], None),
    ],
    ids=["stood still", "before and after", "seen since", "not read at that moment", "never known", "no points"],
)
def test_the_size_a_day_ago_is_the_last_known_before_or_the_first_since(points, size):
    assert size_a_day_ago(points, NOW - 24) == size


@pytest.fixture
def record(db):
    """record({topic: {hours ago: bytes}}): the collector looks once in 2 minutes around each of these moments."""

    def note(sizes: dict[str, dict[int, float | None]]) -> None:
        store = RowStore()
        recorder = Recorder(store.load)
        for hours in sorted({hours for of_topic in sizes.values() for hours in of_topic}, reverse=True):
            for at_ms in range(NOW - hours * _HOUR_MS, NOW - hours * _HOUR_MS + 300_001, 60_000):
                seen = {name: of_topic[hours] for name, of_topic in sizes.items() if hours in of_topic}
                topics = [Reading("topic", name, (0.0, 0.0, size, 0.0)) for name, size in seen.items()]
                recorder.observe([Reading("cluster", "", (1.0,) * 6), *topics], at_ms)
        store.write(recorder.dirty)
        for name in sizes:
            Topic.objects.create(name=name, size_bytes=10_000)

    return note


def growths() -> dict[str, int | None]:
    return dict(Topic.objects.values_list("name", "day_growth_bytes"))


def test_a_topic_grew_by_what_it_has_more_than_a_day_ago(record, django_assert_num_queries):
    unread = {25: None, 22: 7_000.0}
    record({"orders": {26: 4_000.0, 2: 9_000.0}, "young": {3: 9_500.0}, "shrunk": {2: 12_000.0}, "unread": unread})
    Topic.objects.create(name="never-seen", size_bytes=5)
    with django_assert_num_queries(3):
        save_growth(NOW)
    assert growths() == {"orders": 6_000, "young": 500, "shrunk": -2_000, "unread": 3_000, "never-seen": None}
    with django_assert_num_queries(2):
        save_growth(NOW)


def test_the_list_of_topics_is_sorted_by_growth(db, viewer, client_of):
    for name, growth in (("a", 5), ("b", None), ("c", 2_000_000), ("d", -3_000)):
        Topic.objects.create(name=name, day_growth_bytes=growth)
    response = client_of(viewer).get("/topics/?sort=-growth")
    assert [topic.name for topic in response.context["page"]] == ["c", "a", "d", "b"]
    text = response.content.decode()
    assert "+2\u202fMB" in text
    assert "\u22123\u202fKB" in text

"""A statement that is made once reads what is there now, for whoever asks, at the moment that is given."""

import pytest
from django.db.models import F, Q, QuerySet

from console.access.filters import within
from console.access.reach import EVERYTHING, NOWHERE, Reach, Resource
from console.clusters.models import QuietReason, Topic
from console.common.kept_statements import AT_MS, kept_rows

pytestmark = pytest.mark.django_db


def _quiet(key: str, since_ms: int, until_ms: int | None) -> None:
    QuietReason.objects.create(key=key, kind="mute", about="cluster", since_ms=since_ms, until_ms=until_ms, parts=[key])


def _lasting() -> QuerySet[QuietReason]:
    return QuietReason.objects.filter(Q(until_ms=None) | Q(until_ms__gt=AT_MS)).order_by("key")


def _half_over() -> QuerySet[QuietReason]:
    return QuietReason.objects.filter(until_ms__lt=2 * AT_MS - F("since_ms")).exclude(since_ms__gt=AT_MS - 10)


def _topics(reach: Reach) -> QuerySet[Topic]:
    return Topic.objects.filter(within(reach, Resource.TOPIC, "name")).only("name")[:2]


def test_rows_are_those_of_now_with_their_types(django_assert_num_queries):
    assert kept_rows(_lasting, at_ms=5) == []
    _quiet("a", 0, None)
    with django_assert_num_queries(1):
        (found,) = kept_rows(_lasting, at_ms=5)
    assert (found, found.parts, found.until_ms) == (QuietReason.objects.get(), ["a"], None)

    QuietReason.objects.update(parts=["b"])
    assert kept_rows(_lasting, at_ms=5)[0].parts == ["b"]


def test_the_moment_is_the_one_of_the_question_and_may_be_reckoned_with():
    _quiet("a", 0, 100)
    _quiet("b", 60, 200)
    assert [[each.key for each in kept_rows(_lasting, at_ms=at_ms)] for at_ms in (99, 100, 200)] == [
        ["a", "b"],
        ["b"],
        [],
    ]
    assert [[each.key for each in kept_rows(_half_over, at_ms=at_ms)] for at_ms in (50, 51, 131)] == [
        [],
        ["a"],
        ["a", "b"],
    ]


def test_each_argument_has_a_statement_of_its_own():
    for name in ("a", "b", "c"):
        Topic.objects.create(name=name)
    assert [each.name for each in kept_rows(_topics, EVERYTHING)] == ["a", "b"]
    assert kept_rows(_topics, NOWHERE) == []
    assert [each.name for each in kept_rows(_topics, EVERYTHING)] == ["a", "b"]

"""A statement that is made once reads what is there now, for whoever asks, at the moment that is given, and writes."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Group
from django.db.models import Count, F, Q, QuerySet, Sum, Value

from console.kit.access.filters import within
from console.kit.access.reach import EVERYTHING, NOWHERE, Reach, Resource
from console.kit.common.kept_statements import AT_MS, PERSON, kept_rows, kept_values, update_row
from console.processes.models import ManagedProcess
from console.state.clusters.models import QuietReason, Topic

pytestmark = pytest.mark.django_db


def _quiet(key: str, since_ms: int, until_ms: int | None) -> None:
    QuietReason.objects.create(key=key, kind="mute", about="cluster", since_ms=since_ms, until_ms=until_ms, parts=[key])


def _lasting() -> QuerySet[QuietReason]:
    return QuietReason.objects.filter(Q(until_ms=None) | Q(until_ms__gt=AT_MS)).order_by("key")


def _half_over() -> QuerySet[QuietReason]:
    return QuietReason.objects.filter(until_ms__lt=2 * AT_MS - F("since_ms")).exclude(since_ms__gt=AT_MS - 10)


def _topics(reach: Reach) -> QuerySet[Topic]:
    return Topic.objects.filter(within(reach, Resource.TOPIC, "name")).only("name")[:2]


def _roles() -> QuerySet[Group]:
    return Group.objects.filter(user=PERSON).values_list("name")


def test_rows_are_those_of_now_with_their_types(django_assert_num_queries):
    assert kept_rows(_lasting, at_ms=5) == []
    _quiet("a", 0, None)
    with django_assert_num_queries(1):
        (first,) = kept_rows(_lasting, at_ms=5)
    assert (first, first.parts, first.until_ms) == (QuietReason.objects.get(), ["a"], None)

    QuietReason.objects.update(parts=["b"])
    assert kept_rows(_lasting, at_ms=5)[0].parts == ["b"]


def test_the_moment_is_the_one_of_the_question_and_may_be_reckoned_with():
    _quiet("a", 0, 100)
    _quiet("b", 60, 200)
    assert [[row.key for row in kept_rows(_lasting, at_ms=at_ms)] for at_ms in (99, 100, 200)] == [
        ["a", "b"],
        ["b"],
        [],
    ]
    assert [[row.key for row in kept_rows(_half_over, at_ms=at_ms)] for at_ms in (50, 51, 131)] == [
        [],
        ["a"],
        ["a", "b"],
    ]


def test_each_argument_has_a_statement_of_its_own():
    for name in ("a", "b", "c"):
        Topic.objects.create(name=name)
    assert [row.name for row in kept_rows(_topics, EVERYTHING)] == ["a", "b"]
    assert kept_rows(_topics, NOWHERE) == []
    assert [row.name for row in kept_rows(_topics, EVERYTHING)] == ["a", "b"]


def _sums(reach: Reach) -> QuerySet:
    whole = Topic.objects.filter(within(reach, Resource.TOPIC, "name")).order_by().values(whole=Value(1))
    return whole.annotate(count=Count("pk", filter=Q(is_internal=False)), size=Sum("size_bytes")).values_list(
        "size", "count"
    )


def _process() -> ManagedProcess:
    return ManagedProcess.objects.create(
        name="broker-1", kind="broker", host="here", spec={"broker_id": 1}, pid=7, started_at=datetime.now(UTC)
    )


def _values_of(row: ManagedProcess) -> dict[str, object]:
    return {name: value for name, value in vars(row).items() if name != "_state"}


@pytest.mark.parametrize(
    "make",
    [
        ManagedProcess.objects.all,
        lambda: ManagedProcess.objects.only("name", "started_at"),
        lambda: ManagedProcess.objects.defer("spec"),
    ],
)
def test_rows_have_what_the_queryset_itself_would_give_them(make):
    _process()
    (first,), (itself,) = kept_rows(make), make()
    assert _values_of(first) == _values_of(itself)
    assert (first, first._state.db, first._state.adding) == (itself, itself._state.db, False)
    first.sentence = "kept"
    first.save(update_fields=["sentence"])


def test_values_are_those_of_now_in_the_order_asked_for(django_assert_num_queries):
    assert list(kept_values(_sums, EVERYTHING)) == [(None, 0)]
    Topic.objects.create(name="a", size_bytes=3)
    Topic.objects.create(name="__b", size_bytes=4, is_internal=True)
    with django_assert_num_queries(1):
        assert list(kept_values(_sums, EVERYTHING)) == [(7, 1)]
    with django_assert_num_queries(0):
        assert list(kept_values(_sums, NOWHERE)) == []
    _quiet("a", 5, None)
    ((parts, since_ms),) = kept_values(lambda: QuietReason.objects.values_list("parts", "since_ms"))
    assert (parts, since_ms) == (["a"], 5)


def test_a_row_is_written_as_it_would_be_read_and_no_other(django_assert_num_queries):
    assert not update_row(QuietReason, "key", "a", parts=["x"])
    _quiet("a", 0, 100)
    _quiet("b", 0, 100)
    with django_assert_num_queries(1):
        assert update_row(QuietReason, "key", "a", parts=["x", {"y": None}], until_ms=None, since_ms=4)
    assert list(QuietReason.objects.order_by("key").values_list("key", "parts", "until_ms", "since_ms")) == [
        ("a", ["x", {"y": None}], None, 4),
        ("b", ["b"], 100, 0),
    ]
    process = _process()
    assert update_row(ManagedProcess, "name", "broker-1", started_at=(at := datetime(2030, 1, 1, tzinfo=UTC)))
    process.refresh_from_db()
    assert process.started_at == at


def test_the_person_is_the_one_of_the_question(viewer, reader, outsider):
    result = [kept_values(_roles, person=item.pk) for item in (viewer, reader, outsider)]
    assert result == [[("viewer",)], [("reader",)], []]

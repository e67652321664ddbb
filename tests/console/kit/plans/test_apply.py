import pytest

from console.kit.audit.models import AuditEvent
from console.kit.gateway.errors import ClusterUnreachableError, RefusedError
from console.kit.plans.apply import carry_out
from console.kit.plans.digest import digest_of
from console.kit.plans.inverse import find_inverse, inverses_of, save_inverse
from console.kit.plans.models import KEPT_PER_OBJECT
from console.kit.plans.plan import Confirmation, MovedOnError, NameNotTypedError, Plan, PlanLine
from tests.console.confirming import confirmation_of

PLAN = Plan("paint", "thing", "lamp", (PlanLine("a", 1, 2), PlanLine("b", 1, 2)), ("a=1", "b=1"))


@pytest.fixture
def yes(operator) -> Confirmation:
    return confirmation_of(PLAN, operator)


def only_event() -> AuditEvent:
    return AuditEvent.objects.get()


def test_what_is_done_is_kept_with_old_and_new(operator, yes):
    assert carry_out(operator, PLAN, yes, lambda: None) == {}

    event = only_event()
    assert (event.actor_name, event.action, event.object_name, event.result) == ("operator", "paint", "lamp", "done")
    assert (event.before, event.after) == ({"a": 1, "b": 1}, {"a": 2, "b": 2})


def test_what_moved_on_is_not_done_and_kept_as_refused(operator):
    done = []
    with pytest.raises(MovedOnError):
        carry_out(operator, PLAN, Confirmation("another"), lambda: done.append(1))

    assert not done
    assert only_event().result == "refused"


def test_a_name_not_typed_is_no_event(operator):
    destructive = Plan("paint", "thing", "lamp", PLAN.lines, PLAN.read, typed_name="lamp")
    with pytest.raises(NameNotTypedError):
        carry_out(operator, destructive, Confirmation(digest_of(destructive, operator)), lambda: None)

    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("error", "result"), [(RefusedError("NOPE", "no"), "refused"), (ClusterUnreachableError("silent"), "failed")]
)
def test_the_answer_of_the_cluster_decides_refused_or_failed(operator, yes, error, result):
    def fail():
        raise error

    with pytest.raises(type(error)):
        carry_out(operator, PLAN, yes, fail)
    assert (only_event().result, only_event().detail) == (result, str(error))


def test_what_broke_in_the_middle_is_kept_as_failed_with_what_it_was(operator, yes):
    def fail():
        raise OSError(39, "Directory not empty")

    with pytest.raises(OSError):
        carry_out(operator, PLAN, yes, fail)
    assert (only_event().result, only_event().detail) == ("failed", "OSError: [Errno 39] Directory not empty")
    assert only_event().after == {"a": 2, "b": 2}


def test_a_part_refused_is_done_with_the_reasons_and_all_refused_is_refused(operator, yes):
    carry_out(operator, PLAN, yes, lambda: {"b": "busy"})
    assert (only_event().result, only_event().detail) == ("done", "b: busy")

    carry_out(operator, PLAN, yes, lambda: {"a": "busy", "b": "busy"})
    assert AuditEvent.objects.first().result == "refused"


def test_an_empty_plan_does_nothing(operator):
    empty = Plan("paint", "thing", "lamp", (), ())
    carry_out(operator, empty, confirmation_of(empty, operator), lambda: pytest.fail("done"))

    assert not AuditEvent.objects.exists()


def test_the_newest_inverses_of_an_object_are_kept_and_found(operator):
    kept = [save_inverse(operator, PLAN, {"n": n}) for n in range(KEPT_PER_OBJECT + 3)]

    assert [reading.values["n"] for reading in inverses_of("thing", "lamp")] == list(range(KEPT_PER_OBJECT + 2, 2, -1))
    assert find_inverse("thing", "lamp", str(kept[-1].pk)).values == {"n": KEPT_PER_OBJECT + 2}
    assert find_inverse("thing", "another", str(kept[-1].pk)) is None
    assert [find_inverse("thing", "lamp", text) for text in ("", "x", "²", "-1", str(kept[0].pk))] == [None] * 5

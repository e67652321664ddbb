import pytest
from django.contrib.auth.models import User

from console.kit.audit.models import AuditEvent
from console.kit.audit.queries import verify_chain
from console.kit.audit.record import record_event


def test_an_event_keeps_who_what_and_both_values(operator):
    record_event(operator, "set config", "topic", "orders", before={"retention.ms": 1}, after={"retention.ms": 2})

    event = AuditEvent.objects.get()
    assert (event.actor, event.actor_name, event.result) == (operator, "operator", "done")
    assert (event.before, event.after) == ({"retention.ms": 1}, {"retention.ms": 2})


def test_the_system_is_an_actor_too(db):
    assert record_event(None, "restart", "process", "broker-1").actor_name == "system"


def test_an_account_that_is_called_as_the_system_is_told_from_it(db):
    for name in ("system", "System", "anonymous"):
        impostor = User.objects.create_user(name)
        assert record_event(impostor, "restart", "process", "x").actor_name == f"{name} (account {impostor.pk})"


@pytest.mark.django_db(transaction=True)
def test_the_account_stays_known_by_its_number(operator):
    number = operator.pk
    record_event(operator, "create topic", "topic", "orders")
    operator.delete()

    assert AuditEvent.objects.get().actor_number == number
    assert verify_chain().broken is None


def test_the_name_stays_when_the_user_goes(operator):
    record_event(operator, "create topic", "topic", "orders")
    operator.delete()

    event = AuditEvent.objects.get()
    assert (event.actor, event.actor_name) == (None, "operator")


def test_an_event_cannot_be_changed_or_deleted(db):
    event = record_event(None, "restart", "process", "broker-1")
    event.result = "failed"

    with pytest.raises(TypeError):
        event.save()
    with pytest.raises(TypeError):
        event.delete()

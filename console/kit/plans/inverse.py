"""Keeping and finding what takes a change back."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from console.kit.plans.models import KEPT_PER_OBJECT, KeptInverse
from console.kit.plans.plan import Plan

#: Of what was removed, offered to be made again.
REMOVED_SHOWN = 10


def save_inverse(actor: User, plan: Plan, values: object) -> KeptInverse:
    """Called before the change is made: one that breaks in the middle can be taken back too."""
    kept = KeptInverse.objects.create(
        actor_name=actor.get_username(),
        action=plan.action,
        object_type=plan.object_type,
        object_name=plan.object_name,
        values=values,
    )
    of_object = KeptInverse.objects.filter(object_type=plan.object_type, object_name=plan.object_name)
    oldest_kept = of_object.values_list("pk", flat=True)[KEPT_PER_OBJECT - 1 : KEPT_PER_OBJECT]
    of_object.filter(pk__lt=min(oldest_kept, default=0)).delete()
    return kept


def find_inverse(object_type: str, object_name: str, number: str) -> KeptInverse | None:
    """Return a stored inverse; None if it does not exist, is another object's, or is not kept any more."""
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        return None
    return KeptInverse.objects.filter(pk=int(number), object_type=object_type, object_name=object_name).first()


def find_removed(object_type: str, action: str, number: str) -> KeptInverse | None:
    """Return the kept inverse of a deleted object by its number; None as above."""
    if not number.isascii() or not number.isdigit() or len(number) > 18:
        return None
    return KeptInverse.objects.filter(pk=int(number), object_type=object_type, action=action).first()


def removed(object_type: str, action: str, there: Iterable[str] = ()) -> list[KeptInverse]:
    """Return removed objects, newest first, without those that exist again by name."""
    inverses = KeptInverse.objects.filter(object_type=object_type, action=action).exclude(object_name__in=list(there))
    return list(inverses[:REMOVED_SHOWN])


def inverses_of(object_type: str, object_name: str) -> list[KeptInverse]:
    """Return them, newest first."""
    return list(KeptInverse.objects.filter(object_type=object_type, object_name=object_name))

"""Three rights, three roles. A role is a Django group; a superuser holds every right, others none by default."""

from enum import StrEnum

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied


class Right(StrEnum):
    """What a person may do. Each includes the ones before it."""

    VIEW = "view"
    OPERATE = "operate"
    ADMINISTER = "administer"


#: Role (group name) → the rights it gives.
ROLES: dict[str, frozenset[Right]] = {
    "viewer": frozenset({Right.VIEW}),
    "operator": frozenset({Right.VIEW, Right.OPERATE}),
    "admin": frozenset(Right),
}

#: Right → the sentence a person without it reads.
REFUSALS = {
    Right.VIEW: "Your account has no role yet. An administrator can give you viewer, operator or admin.",
    Right.OPERATE: "This needs the role operator. You have read-only access.",
    Right.ADMINISTER: "This needs the role admin.",
}


def has_right(user: AbstractBaseUser | AnonymousUser, right: Right) -> bool:
    """True if `user` is active and one of the user's roles gives `right`."""
    return right in rights_of(user)


def require(user: AbstractBaseUser | AnonymousUser, right: Right) -> None:
    """Raise PermissionDenied, with a sentence for the person, unless `user` holds `right`."""
    if not has_right(user, right):
        raise PermissionDenied(REFUSALS[right])


def rights_of(user: AbstractBaseUser | AnonymousUser) -> frozenset[Right]:
    """Every right of `user`; asked of the database once per user object, that is once per request."""
    if not user.is_authenticated or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return frozenset(Right)
    cached = getattr(user, "_console_rights", None)
    if cached is None:
        roles = user.groups.values_list("name", flat=True)
        cached = user._console_rights = frozenset().union(*(ROLES.get(role, frozenset()) for role in roles))
    return cached

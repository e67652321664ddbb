"""What the header of the page of a console user tells of the person."""

from django.contrib.auth.models import User

from console.kit.access.identities import may_have_password
from console.kit.access.reach import Reach
from console.kit.common.figures import grouped
from console.kit.features.headers import HeaderFacts, KeyFigure
from console.people.users.queries import logins_of, user_rights_of

_PASSWORD, _SIGN_OUT = "Reset password…", "Sign out everywhere…"


def facts(person: User, _reach: Reach) -> HeaderFacts:
    """Return the facts of the person's account."""
    user_rights, has_password = user_rights_of(person), may_have_password(person)
    return HeaderFacts(
        name=person.username,
        key=str(person.pk),
        word="active" if person.is_active else "inactive",
        tone="ok" if person.is_active else "warning",
        figures=(
            KeyFigure("Role", user_rights.role, "role"),
            KeyFigure("Rules", grouped(len(user_rights.rules)), "rules", "For names that match a pattern"),
            KeyFigure("Sessions", grouped(len(logins_of(person))), "logins", "Where the person is logged in"),
        ),
        main=_PASSWORD if has_password else _SIGN_OUT,
        without=frozenset() if has_password else frozenset({_PASSWORD}),
    )

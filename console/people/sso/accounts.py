"""Whose account a person of the provider has here, and that its rights are what the groups give today."""

from typing import Protocol

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from console.kit.access.models import Identity
from console.kit.audit.record import record_event
from console.people.sso.errors import LoginRefusedError
from console.people.sso.group_rules import NO_ROLE, Grant
from console.people.sso.people import Person, usernames
from console.people.users.actions import end_logins, write_user_rights
from console.people.users.queries import UserRights, user_rights_of


class IdentitySource(Protocol):
    """Whose word it is: a provider, or a directory."""

    @property
    def issuer(self) -> str: ...

    @property
    def name(self) -> str:
        """Return the prefix of users' names."""
        ...


NO_GROUP = "None of your groups at the provider gives you a role here. An administrator can say which one would."
DEACTIVATED = "Your account here was deactivated. An administrator can say why."
#: How often a name that somebody else takes at the same moment is looked for again.
_TRIES_MAX = 5


def admit(person: Person, grant: Grant | None, configuration: IdentitySource) -> User:
    """Return the account of `person`, made at the first login, with what `grant` gives and nothing else.

    Without a grant, what an account still has is taken from it. Raises LoginRefusedError.
    """
    with transaction.atomic():
        identity = _locked_identity(person, configuration)
        if grant is None and identity is not None:
            _take_everything(identity)
    if grant is None:
        raise LoginRefusedError("none of the groups gives a role", NO_GROUP)
    with transaction.atomic():
        identity = _locked_identity(person, configuration) or _make_account(person, configuration)
        if not identity.user.is_active:
            raise LoginRefusedError("the account is deactivated", DEACTIVATED)
        identity.shown_name, identity.groups, identity.provider = (
            person.shown_name,
            list(grant.groups),
            configuration.name,
        )
        identity.proved_at = timezone.now()
        identity.save()
        kept = user_rights_of(identity.user).clusters
        _give(identity.user, UserRights(grant.role, True, grant.rules, kept), f"By the groups of {configuration.name}.")
    return User.objects.get(pk=identity.user.pk)


def _locked_identity(person: Person, configuration: IdentitySource) -> Identity | None:
    identities = Identity.objects.select_for_update(of=("self",)).select_related("user")
    return identities.filter(issuer=configuration.issuer, subject=person.subject).first()


def _make_account(person: Person, configuration: IdentitySource) -> Identity:
    """Create an account without a password; two first logins at the same moment give one account."""
    for _ in range(_TRIES_MAX):
        try:
            with transaction.atomic():
                names = usernames(configuration.name, person.name)
                name = next(name for name in names if not User.objects.filter(username__iexact=name).exists())
                user = User.objects.create_user(name)
                named = {"shown_name": person.shown_name, "provider": configuration.name}
                return Identity.objects.create(user=user, issuer=configuration.issuer, subject=person.subject, **named)
        except IntegrityError:
            identity = _locked_identity(person, configuration)
            if identity is not None:
                return identity
    raise LoginRefusedError("no name was free", "Too many people of your name log in. Try again.", 503)


def _give(user: User, wanted: UserRights, why: str) -> None:
    now = user_rights_of(user)
    if (now.role, now.rules, now.clusters) == (wanted.role, wanted.rules, wanted.clusters):
        return
    write_user_rights(user, wanted)
    record_event(user, "get rights", "user", user.username, _as_audited(now), _as_audited(wanted), detail=why)


def _take_everything(identity: Identity) -> None:
    identity.groups = []
    identity.save(update_fields=["groups"])
    user = identity.user
    _give(user, UserRights(NO_ROLE, user.is_active, ()), "None of the groups gives a role any more.")
    end_logins(user)


def _as_audited(user_rights: UserRights) -> dict[str, object]:
    return {"role": user_rights.role, "rules": [str(rule) for rule in user_rights.rules]}

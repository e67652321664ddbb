"""Accounts that belong to somebody whom a provider of single sign-on knows, and what passwords open then."""

from django.conf import settings

from console.access.models import Identity
from console.access.rights import Person

BY_SINGLE_SIGN_ON = "This account comes in by single sign-on and has no password here."


def identity_of(person: Person | None) -> Identity | None:
    return Identity.objects.filter(user_id=person.pk).first() if person is not None and person.pk else None


def words_of(person: Person | None) -> str:
    """Whom the audit names beside the account: subject and issuer; nothing for an account of our own."""
    identity = identity_of(person)
    return str(identity) if identity else ""


def may_have_password(person: Person) -> bool:
    """A linked account has none, unless the settings allow it or there is no single sign-on any more."""
    single_sign_on = settings.SINGLE_SIGN_ON
    return single_sign_on is None or single_sign_on.allows_passwords or identity_of(person) is None


def opens_by_password(person: Person) -> bool:
    """Where passwords are for breaking the glass, those of superusers do: the first user and `createsuperuser`."""
    single_sign_on = settings.SINGLE_SIGN_ON
    is_barred = single_sign_on is not None and single_sign_on.only_break_glass and not person.is_superuser
    return not is_barred and may_have_password(person)

"""Accounts that belong to somebody whom a provider of single sign-on knows, and what passwords open then."""

from django.conf import settings

from console.kit.access.models import Identity
from console.kit.access.rights import Person

DIRECTORY_BACKEND = "console.people.directory.backend.DirectoryBackend"
BY_SINGLE_SIGN_ON = "This account comes in by single sign-on or a directory and has no password here."


def identity_of(person: Person | None) -> Identity | None:
    return Identity.objects.filter(user_id=person.pk).first() if person is not None and person.pk else None


def identity_text(person: Person | None) -> str:
    """Return the subject and issuer that the audit shows beside the account; empty for a local account."""
    identity = identity_of(person)
    return str(identity) if identity else ""


def may_have_password(person: Person) -> bool:
    """Return whether the person may have a password: a linked account only if the settings allow it or its identity is
    gone.
    """
    identity, single_sign_on, directory = identity_of(person), settings.SINGLE_SIGN_ON, settings.DIRECTORY
    if identity is None:
        return True
    if directory is not None and identity.issuer == directory.issuer:
        return False
    return single_sign_on is None or single_sign_on.allows_passwords


def comes_by_directory(person: Person) -> bool:
    """Return whether the directory has just taken the person's password."""
    return getattr(person, "backend", "") == DIRECTORY_BACKEND


def opens_by_password(person: Person) -> bool:
    """Return whether the password works for login; in break-glass mode only those of superusers do."""
    single_sign_on = settings.SINGLE_SIGN_ON
    if comes_by_directory(person):
        return True
    is_barred = single_sign_on is not None and single_sign_on.only_break_glass and not person.is_superuser
    return not is_barred and may_have_password(person)

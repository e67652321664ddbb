"""The first user: made when there is none, with a password from the environment or a generated one kept in a file."""

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model

USERNAME = "admin"
PASSWORD_VARIABLE = "BARNABAS_ADMIN_PASSWORD"
_FROM_ENVIRONMENT = f"(from {PASSWORD_VARIABLE})"


@dataclass(frozen=True)
class FirstUserCredentials:
    """What to tell the person: `password` is the password itself if it was just made, else where it is known from."""

    username: str
    password: str


#: 96 bits, in 16 characters a person can copy by eye.
PASSWORD_BYTES = 12


def ensure_first_user(given_password: str) -> FirstUserCredentials:
    """Make the superuser if there is none, and say how to log in. An existing user's password is never changed."""
    users = get_user_model().objects
    user = users.filter(is_superuser=True).order_by("pk").first()
    if user is None:
        password = given_password or _generate_password()
        users.create_superuser(USERNAME, password=password)
        return FirstUserCredentials(USERNAME, _FROM_ENVIRONMENT if given_password else password)
    known = ((given_password, _FROM_ENVIRONMENT), (_kept_password(), f"(in {password_file()})"))
    for password, where in known:
        if password and user.check_password(password):
            return FirstUserCredentials(user.get_username(), where)
    return FirstUserCredentials(user.get_username(), "(the one you chose)")


def password_file() -> Path:
    return settings.SECRETS_DIR / "admin-password"


def _generate_password() -> str:
    """Return the first user's stored password; it is made if there is none yet."""
    if kept := _kept_password():
        return kept
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    descriptor = os.open(password_file(), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(password + "\n")
    return password


def _kept_password() -> str:
    try:
        return password_file().read_text().strip()
    except OSError:
        return ""

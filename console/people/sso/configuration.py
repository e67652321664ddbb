"""What BARNABAS_OIDC_… says of single sign-on: read once, with the settings, and ends the program with one sentence
if it cannot be. What may change while the console runs, secret and rules, is in files that are read at each login.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from console.kit.common.owned_files import FileError, read_rules_text, read_secret
from console.people.sso.group_rules import GroupRules, GroupRulesError, parse_rules

PREFIX = "BARNABAS_OIDC_"
#: Users are called NAME:what the provider calls them; a local account's name has no colon.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,19}")
_LOCAL_LOGINS = {"allowed": False, "break-glass": True}
_MINUTES = range(5, 12 * 60 + 1)
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_ISSUER_LENGTH_MAX = 255


@dataclass(frozen=True, slots=True)
class SingleSignOn:
    """One provider. Without `secret_file` the console is a public client, which PKCE alone protects."""

    issuer: str
    client_id: str
    rules_file: Path
    secret_file: Path | None = None
    authority_file: Path | None = None
    name: str = "sso"
    scopes: str = "openid profile"
    name_claim: str = "preferred_username"
    groups_claim: str = "groups"
    session_seconds: int = 8 * 3_600
    only_break_glass: bool = False
    allows_passwords: bool = False

    @property
    def secret(self) -> str | None:
        """Raises FileError."""
        return read_secret(self.secret_file) if self.secret_file else None

    @property
    def rules(self) -> GroupRules:
        """Raises FileError, RulesError."""
        return parse_rules(read_rules_text(self.rules_file))


def read_single_sign_on(environment: Mapping[str, str]) -> SingleSignOn | None:
    """Read the settings of single sign-on; None without an issuer."""
    values = {key.removeprefix(PREFIX): value for key, value in environment.items() if key.startswith(PREFIX) and value}
    if "ISSUER" not in values:
        if values:
            sys.exit(f"{PREFIX}{min(values)} is set without {PREFIX}ISSUER.")
        return None
    try:
        single_sign_on = _read(values)
        _ = single_sign_on.secret, single_sign_on.rules
    except (FileError, GroupRulesError) as error:
        sys.exit(f"Single sign-on: {error}")
    return single_sign_on


def is_safe_address(text: str) -> bool:
    """Return whether the address is https, or plain on this machine."""
    try:
        parts = urlsplit(text)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    is_plain = parts.scheme == "http" and host in _LOOPBACK
    is_odd = parts.username is not None or parts.fragment or not text.isprintable() or " " in text
    return bool(host) and not is_odd and (parts.scheme == "https" or is_plain)


def _read(values: Mapping[str, str]) -> SingleSignOn:
    for name in ("CLIENT_ID", "RULES_FILE"):
        if name not in values:
            sys.exit(f"{PREFIX}ISSUER is set without {PREFIX}{name}.")
    if not is_safe_address(values["ISSUER"]) or "?" in values["ISSUER"] or len(values["ISSUER"]) > _ISSUER_LENGTH_MAX:
        sys.exit(f"{PREFIX}ISSUER={values['ISSUER'][:300]} must be an https address without a query.")
    return SingleSignOn(
        issuer=values["ISSUER"],
        client_id=values["CLIENT_ID"],
        rules_file=_path(values["RULES_FILE"]),
        secret_file=_path(values["CLIENT_SECRET_FILE"]) if "CLIENT_SECRET_FILE" in values else None,
        authority_file=_path(values["CA_FILE"]) if "CA_FILE" in values else None,
        name=_name(values.get("NAME", "sso")),
        scopes=_scopes(values.get("SCOPES", "openid profile")),
        name_claim=values.get("NAME_CLAIM", "preferred_username"),
        groups_claim=values.get("GROUPS_CLAIM", "groups"),
        session_seconds=60 * _minutes(values.get("SESSION_MINUTES", "480")),
        only_break_glass=_choice(values, "LOCAL_LOGIN", _LOCAL_LOGINS, "allowed"),
        allows_passwords=_choice(values, "LOCAL_PASSWORDS", {"0": False, "1": True}, "0"),
    )


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        sys.exit(f"{PREFIX}NAME={text} must have at most 20 letters, digits, '.', '_' and '-'.")
    return text


def _scopes(text: str) -> str:
    """Return the scopes with `openid`: without it there is no ID token."""
    scopes = text.replace(",", " ").split()
    return " ".join(scopes if "openid" in scopes else ["openid", *scopes])


def _minutes(text: str) -> int:
    if not text.isdecimal() or int(text) not in _MINUTES:
        sys.exit(f"{PREFIX}SESSION_MINUTES={text} must be a number from {_MINUTES[0]} to {_MINUTES[-1]}.")
    return int(text)


def _choice(values: Mapping[str, str], name: str, choices: Mapping[str, bool], default: str) -> bool:
    text = values.get(name, default)
    if text not in choices:
        sys.exit(f"{PREFIX}{name}={text} must be {' or '.join(choices)}.")
    return choices[text]


def _path(text: str) -> Path:
    return Path(text).expanduser().resolve()

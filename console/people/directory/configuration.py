"""What BARNABAS_LDAP_… says of a directory: read once, with the settings, and ends the program with one sentence if it
cannot be. The password and what groups give are in files that are read at each login.
"""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from broker.common.extras import missing_part
from console.kit.common.owned_files import FileError, read_rules_text, read_secret
from console.people.sso.group_rules import GroupRules, GroupRulesError, parse_rules

PREFIX = "BARNABAS_LDAP_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,19}")
_ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9;-]{0,59}")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_MINUTES = range(5, 12 * 60 + 1)
_ISSUER_LENGTH_MAX = 255
_KNOWN = frozenset(
    {
        *("URL", "BASE", "RULES_FILE", "NAME", "BIND_DN", "BIND_PASSWORD_FILE", "CA_FILE", "USER_ATTRIBUTES"),
        *(
            "USER_CLASS",
            "ID_ATTRIBUTE",
            "SHOWN_ATTRIBUTE",
            "GROUP_BASE",
            "GROUP_MEMBER",
            "MEMBER_OF",
            "SESSION_MINUTES",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class DirectorySettings:
    """`is_tls`: from the first byte; else by StartTLS, unless it is this machine's own.

    Groups are those below `group_base` whose `group_member` is the person, by their `cn`; without it what the person's
    `member_of` says, to the letter.
    """

    host: str
    port: int
    is_tls: bool
    base: str
    rules_file: Path
    name: str = "ldap"
    bind_dn: str = ""
    password_file: Path | None = None
    authority_file: Path | None = None
    user_attributes: tuple[str, ...] = ("uid",)
    user_class: str = ""
    id_attribute: str = "entryUUID"
    shown_attribute: str = "cn"
    group_base: str = ""
    group_member: str = "member"
    member_of: str = "memberOf"
    session_seconds: int = 8 * 3_600

    @property
    def issuer(self) -> str:
        """The issuer of the identities of accounts."""
        return f"ldap://{self.host}/{self.base}"

    @property
    def starts_tls(self) -> bool:
        return not self.is_tls and self.host not in _LOOPBACK

    @property
    def password(self) -> str:
        """Raises FileError."""
        return read_secret(self.password_file, "the password") if self.password_file else ""

    @property
    def rules(self) -> GroupRules:
        """Raises FileError, RulesError."""
        return parse_rules(read_rules_text(self.rules_file))


def read_directory(environment: Mapping[str, str]) -> DirectorySettings | None:
    """Read the directory's settings; None without a URL."""
    values = {key.removeprefix(PREFIX): item.strip() for key, item in environment.items() if key.startswith(PREFIX)}
    values = {key: value for key, value in values.items() if value}
    if unknown := sorted(values.keys() - _KNOWN):
        sys.exit(f"{PREFIX}{unknown[0]} means nothing.")
    if "URL" not in values:
        if values:
            sys.exit(f"{PREFIX}{min(values)} is set without {PREFIX}URL.")
        return None
    if missing := missing_part("ldap"):
        sys.exit(f"{PREFIX}URL is set. {missing}")
    try:
        directory_settings = _read(values)
        _ = directory_settings.password, directory_settings.rules
    except (FileError, GroupRulesError) as error:
        sys.exit(f"Directory: {error}")
    return directory_settings


def _read(values: Mapping[str, str]) -> DirectorySettings:
    for name in ("BASE", "RULES_FILE"):
        if name not in values:
            sys.exit(f"{PREFIX}URL is set without {PREFIX}{name}.")
    if ("BIND_DN" in values) != ("BIND_PASSWORD_FILE" in values):
        sys.exit(f"{PREFIX}BIND_DN and {PREFIX}BIND_PASSWORD_FILE are set together or not at all.")
    host, port, is_tls = _place(values["URL"])
    directory_settings = DirectorySettings(
        host,
        port,
        is_tls,
        values["BASE"],
        _path(values["RULES_FILE"]),
        name=_checked(values, "NAME", "ldap", _NAME, "at most 20 letters, digits, '.', '_' and '-'"),
        bind_dn=values.get("BIND_DN", ""),
        password_file=_path(values["BIND_PASSWORD_FILE"]) if "BIND_PASSWORD_FILE" in values else None,
        authority_file=_path(values["CA_FILE"]) if "CA_FILE" in values else None,
        user_attributes=tuple(_attribute("USER_ATTRIBUTES", name) for name in _list(values, "USER_ATTRIBUTES", "uid")),
        user_class=_attribute("USER_CLASS", values["USER_CLASS"]) if "USER_CLASS" in values else "",
        id_attribute=_attribute("ID_ATTRIBUTE", values.get("ID_ATTRIBUTE", "entryUUID")),
        shown_attribute=_attribute("SHOWN_ATTRIBUTE", values.get("SHOWN_ATTRIBUTE", "cn")),
        group_base=values.get("GROUP_BASE", ""),
        group_member=_attribute("GROUP_MEMBER", values.get("GROUP_MEMBER", "member")),
        member_of=_attribute("MEMBER_OF", values.get("MEMBER_OF", "memberOf")),
        session_seconds=60 * _minutes(values.get("SESSION_MINUTES", "480")),
    )
    if len(directory_settings.issuer) > _ISSUER_LENGTH_MAX:
        sys.exit(f"{PREFIX}URL and {PREFIX}BASE are longer than {_ISSUER_LENGTH_MAX} characters together.")
    if directory_settings.authority_file is not None and not directory_settings.authority_file.is_file():
        sys.exit(f"{PREFIX}CA_FILE={directory_settings.authority_file} is no file.")
    return directory_settings


def _place(url: str) -> tuple[str, int, bool]:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    is_odd = parts.username is not None or parts.path.strip("/") or parts.query or parts.fragment
    if parts.scheme not in ("ldap", "ldaps") or not host or is_odd:
        sys.exit(f"{PREFIX}URL={url[:300]} must be ldaps://host[:port], or ldap://host[:port] for StartTLS.")
    return host, port or (636 if parts.scheme == "ldaps" else 389), parts.scheme == "ldaps"


def _checked(values: Mapping[str, str], name: str, default: str, pattern: re.Pattern[str], what: str) -> str:
    text = values.get(name, default)
    if not pattern.fullmatch(text):
        sys.exit(f"{PREFIX}{name}={text[:100]} must have {what}.")
    return text


def _attribute(name: str, text: str) -> str:
    return _checked({name: text}, name, "", _ATTRIBUTE, "the name of an attribute")


def _list(values: Mapping[str, str], name: str, default: str) -> list[str]:
    return [part.strip() for part in values.get(name, default).split(",") if part.strip()]


def _minutes(text: str) -> int:
    if not text.isdecimal() or int(text) not in _MINUTES:
        sys.exit(f"{PREFIX}SESSION_MINUTES={text} must be a number from {_MINUTES[0]} to {_MINUTES[-1]}.")
    return int(text)


def _path(text: str) -> Path:
    return Path(text).expanduser().resolve()

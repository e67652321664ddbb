"""Secrets in configurations of connectors, taken out before anything of one is kept or shown. Pure.

Connect's REST tells them to everybody who asks. Here a value is a secret by what its plugin declares (PASSWORD), or by
its key's name, for keys that no plugin of this worker declares; of an address the password in it.
"""

import re
from collections.abc import Collection, Mapping

MASK = "••••••"
#: What a plugin declares as a password has this type.
SECRET_TYPE = "PASSWORD"
_SECRET_NAME = re.compile(
    r"password|passphrase|passwd|secret|jaas|credential|token|api.?key|access.?key|private.?key|user\.info|authorization"
    r"|keystore\.key|account.?key|^sasl\..*key|connection.?string",
    re.IGNORECASE,
)
#: Names that only sound so: they say where something is, of what kind, or how long it lasts.
_PLAIN_NAME = re.compile(
    r"(location|\.type|\.path|\.file|\.class|\.provider|\.url|\.uri|endpoint|\.ms|\.seconds|\.name|\.id|\.field"
    r"|\.enable|\.enabled|converter|\.mechanism)$",
    re.IGNORECASE,
)
#: Bounded, so that no value takes long to search, whatever a worker answers.
_IN_ADDRESS = re.compile(r"(?P<before>\b[a-zA-Z][\w+-]{0,30}://[^\s/@:]{0,200}:)(?P<secret>[^\s/]{1,300})(?=@)")
_IN_QUERY = re.compile(
    r"(?P<before>(?:^|[?&;\s])[\w.-]{0,60}?(?:password|passwd|pwd|secret|token)\s{0,3}=\s{0,3})"
    r"(?P<secret>[^&;\s\"']{1,500})",
    re.IGNORECASE,
)
#: A name of where the secret is, for a config provider: it is what should be read.
_REFERENCE = re.compile(r"\$\{[^{}]+\}")
#: Shorter ones would blot out half of a text.
_SECRET_LENGTH_MIN = 4


def is_secret(key: str, declared: Collection[str] = ()) -> bool:
    """`declared`: keys that the plugin says are passwords."""
    return key in declared or bool(_SECRET_NAME.search(key) and not _PLAIN_NAME.search(key))


def masked_value(key: str, value: str, declared: Collection[str] = ()) -> str:
    if not value or _REFERENCE.fullmatch(value):
        return value
    if is_secret(key, declared):
        return MASK
    for pattern in (_IN_ADDRESS, _IN_QUERY):
        value = pattern.sub(_without_secret, value)
    return value


def masked(config: Mapping[str, str], declared: Collection[str] = ()) -> dict[str, str]:
    return {key: masked_value(key, value, declared) for key, value in config.items()}


def secrets_in(config: Mapping[str, str], declared: Collection[str] = ()) -> list[str]:
    """The secrets themselves, the longest first."""
    found: set[str] = set()
    for key, value in config.items():
        if value and not _REFERENCE.fullmatch(value):
            if is_secret(key, declared):
                found.add(value)
            else:
                found.update(
                    match["secret"] for pattern in (_IN_ADDRESS, _IN_QUERY) for match in pattern.finditer(value)
                )
    return sorted((name for name in found if len(name) >= _SECRET_LENGTH_MIN and name != MASK), key=len, reverse=True)


def without(text: str, secrets: Collection[str]) -> str:
    """`text`, which may quote what a connector was configured with, without that."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    for pattern in (_IN_ADDRESS, _IN_QUERY):
        text = pattern.sub(_without_secret, text)
    return text


def _without_secret(match: re.Match[str]) -> str:
    reference = _REFERENCE.fullmatch(match["secret"])
    return match[0] if reference else f"{match['before']}{MASK}"

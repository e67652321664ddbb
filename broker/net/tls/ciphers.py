"""`ssl.cipher.suites` in OpenSSL's words. Kafka's are Java's, which are those of the RFCs."""

import re
from collections.abc import Sequence

_OF_TLS_1_3 = frozenset({"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"})
_NAME = re.compile(r"TLS_([A-Z]+)_([A-Z]+)_WITH_([A-Z0-9_]+)")


def check_and_translate(suites: Sequence[str], versions: Sequence[str]) -> tuple[list[str], str]:
    """Return the TLS versions that are left, and OpenSSL's list for TLS 1.2. ValueError for suites that cannot be used.

    Of TLS 1.3 there are three suites, all safe, and Python 3.11 cannot leave out one.
    """
    allowed = list(versions)
    if not suites:
        return allowed, ""
    new, old = _OF_TLS_1_3.intersection(suites), [suite for suite in suites if suite not in _OF_TLS_1_3]
    if "TLSv1.3" in allowed:
        if not new:
            allowed.remove("TLSv1.3")
        elif new != _OF_TLS_1_3:
            missing = ", ".join(sorted(_OF_TLS_1_3 - new))
            raise ValueError(f"suites of TLS 1.3 cannot be left out; name {missing} too, or none of them")
    if "TLSv1.2" in allowed and not old:
        allowed.remove("TLSv1.2")
    return allowed, ":".join(map(_translated, old))


def _translated(suite: str) -> str:
    """Return OpenSSL's name: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 is ECDHE-RSA-AES128-GCM-SHA256. OpenSSL's own names
    stay as they are.
    """
    match = _NAME.fullmatch(suite)
    if not match:
        return suite
    exchange, proof, rest = match.groups()
    if rest == "CHACHA20_POLY1305_SHA256":
        rest = "CHACHA20-POLY1305"
    rest = re.sub(r"AES_(128|256)_(?:CBC_)?", r"AES\1-", rest).replace("_", "-")
    return f"{exchange}-{proof}-{rest}"

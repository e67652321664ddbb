"""Names of users and clients as names of znodes: Kafka's Sanitizer, which is Java's URLEncoder with two exceptions."""

from urllib.parse import quote, unquote

#: The znode of who has nothing of their own; no sanitized name is spelled so.
DEFAULT = "<default>"


def sanitized(name: str) -> str:
    """Return the name with letters, digits and `.-_` as they are, and each UTF-8 byte of others as `%XX`."""
    return quote(name, safe="", errors="replace").replace("~", "%7E")


def desanitized(name: str) -> str:
    """Return the name that was sanitized; a malformed text is decoded as far as possible."""
    return unquote(name, errors="replace")

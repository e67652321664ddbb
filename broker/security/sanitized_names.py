"""Names of users and clients as names of znodes: Kafka's Sanitizer, which is Java's URLEncoder with two exceptions."""

from urllib.parse import quote, unquote

#: The znode of who has nothing of their own; no sanitized name is spelled so.
DEFAULT = "<default>"


def sanitized(name: str) -> str:
    """Letters, digits and `.-_` stay, of everything else each UTF-8 byte becomes `%XX`."""
    return quote(name, safe="", errors="replace").replace("~", "%7E")


def desanitized(name: str) -> str:
    """The name that was sanitized; what is no such text is read as far as it goes."""
    return unquote(name, errors="replace")

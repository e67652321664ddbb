"""What can be wrong with a client's security before any broker is asked."""

from broker.common.errors import StartupError


class ClientConfigError(StartupError):
    """The properties, or a file that they name, cannot be right; the sentence names the property and no secret."""


def without_query(url: str) -> str:
    """Return `url` as an error may name it: there may be a secret in its query."""
    return url.partition("?")[0]

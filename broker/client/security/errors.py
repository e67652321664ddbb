"""What can be wrong with a client's security before any broker is asked."""

from broker.common.errors import StartupError


class ClientConfigError(StartupError):
    """The properties, or a file that they name, cannot be right; the sentence names the property and no secret."""

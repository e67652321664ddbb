"""What a channel made on a page may be reached at: less than one that an administrator writes into the file. Pure.

The file is for whoever owns the machine. A page is for people with a login, who must not make the console speak to
services of its own machine, or to a cloud's metadata, in its name (server-side request forgery).
"""

from urllib.parse import urlsplit

from console.kit.common.outbound import refusal_beyond_this_machine
from console.signals.alerts.channels import Channel

#: The key of such a channel in the file; an administrator who takes the line out answers for the address.
MADE_ON_PAGE = "made_on_page"
_BESIDE = "Write the channel into the file of alerts, without made_on_page, if that is meant."
#: Addresses of Teams workflows are signed in their query; other kinds would send it along with paths of their own.
_WITH_QUERY = frozenset({"teams"})


def refusal_on_page(channel: Channel) -> str:
    """Return one sentence without a secret; empty: the channel may be made. Its name is resolved when it is used."""
    if channel.is_mail:
        if channel.settings["tls"] == "none":
            return f"tls must be starttls or tls. {_BESIDE}"
        return _refusal_of_host(channel.settings["server"].rpartition(":")[0])
    parts = urlsplit(channel.settings["url"])
    if parts.scheme != "https":
        return f"url must be https. {_BESIDE}"
    if parts.username is not None or parts.password is not None:
        return "url must be without a user and a password."
    if "#" in channel.settings["url"] or ("?" in channel.settings["url"] and channel.kind not in _WITH_QUERY):
        return "url must be without a query and a fragment."
    return _refusal_of_host(parts.hostname or "")


def _refusal_of_host(host: str) -> str:
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return f"{name} is this machine. {_BESIDE}"
    try:
        refusal = refusal_beyond_this_machine(name)
    except ValueError:  # a name
        return ""
    return f"{refusal} {_BESIDE}" if refusal else ""

"""The words for Kafka's users: who has a password by SCRAM, and what may be one."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from broker.common.limits import GROUP_NAME_LENGTH_MAX
from broker.security.membership import CLUSTER_USER
from broker.security.scram import HASHES, ITERATIONS_MAX, ITERATIONS_MIN

__all__ = ["ITERATIONS_MAX", "ITERATIONS_MIN", "MECHANISMS", "USER_LENGTH_MAX"]

#: As Kafka names them, the weaker first.
MECHANISMS = tuple(HASHES)
USER_LENGTH_MAX = GROUP_NAME_LENGTH_MAX

#: Mechanism → iterations.
Mechanisms = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CredentialsView:
    """The users. `rule_counts`: ACLs by principal; None: this cluster has none, or does not report them."""

    users: Mapping[str, Mechanisms]
    rule_counts: Mapping[str, int] | None = None


class CredentialGateway(Protocol):
    @property
    def own_user(self) -> str:
        """The user the console logs in as; empty without a name and password."""
        ...

    def describe(self) -> CredentialsView:
        """Raises GatewayError, with the code UNSUPPORTED where brokers keep no passwords."""
        ...

    def set_password(self, user: str, password: str, mechanisms: Mechanisms) -> None:
        """Set the user's password for these mechanisms; others stay as they are.

        It is salted here and goes no further. Raises GatewayError.
        """
        ...

    def delete(self, user: str, mechanisms: Collection[str]) -> None:
        """Delete the user's credentials of these mechanisms. Raises GatewayError; nothing is deleted if one of them is
        missing.
        """
        ...


def user_refusal(name: str) -> str:
    """Return why there can be no user of this name, in a sentence; empty: there can.

    Kafka takes more of them, whose clients could not send them: SCRAM's names have seven bits (ScramMessages.java).
    """
    if name == CLUSTER_USER:
        return f"{CLUSTER_USER} is the cluster's own."
    if name in (".", "..") or not name.isascii() or not name.isprintable():
        return "Letters, digits and signs of ASCII, and not just '.' or '..': no client could log in by another name."
    return ""

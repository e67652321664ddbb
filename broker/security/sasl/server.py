"""What a mechanism of SASL is to the broker: an object that is made for one login, given the client's tokens in order,
and ends it by saying who the client is. Each mechanism is known by its name in a table of such makers; whoever drives
it (the phases, frames, delays, lifetimes) knows nothing else of it.

What is promised:

- `respond` is called with one token of the client at a time, never again after it has returned LoggedIn or raised.
- bytes, also none, are sent as they are, and the client's next token follows. LoggedIn ends the login.
- Where the answer has to wait (keys that must be fetched), it is an awaitable of one of the two; meanwhile nothing else
  is read from the client. Its time counts to the login's deadline.
- AuthenticationError ends the login in failure. The client is sent `client_message`, or the general words of its
  mechanism; the reason goes to the log, after the delay that a failure costs. Neither may show whether a user exists.
- A mechanism that tells a failure in its own words first (OAUTHBEARER's `{"status": "invalid_token"}`) returns those as
  bytes, and raises at the token that follows.
- Nothing is done on the loop that takes a millisecond.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

from broker.security.scram import AuthenticationError, Credential

__all__ = ["Accounts", "AuthenticationError", "LoggedIn", "Mechanisms", "Reply", "SaslServer", "ScramAccount"]


class LoggedIn(NamedTuple):
    """The login has succeeded. `answer` is the last token for the client, perhaps empty."""

    answer: bytes
    #: As Kafka writes it: `User:alice`.
    principal: str
    #: When what the client showed ends by itself, in ms of wall-clock time, perhaps past already: the session ends
    #: then, also without connections.max.reauth.ms. None: it does not.
    expires_ms: int | None = None
    #: By a delegation token, whose holder may make no further tokens.
    is_by_token: bool = False
    #: By the cluster's secret. Who has `__cluster` for a name in any other way is refused.
    is_member: bool = False


Reply = bytes | LoggedIn


class SaslServer(Protocol):
    """One login by one mechanism."""

    def respond(self, token: bytes) -> Reply | Awaitable[Reply]:
        """Respond to the client's token. Raises AuthenticationError; so may the awaitable."""
        ...


#: Name (`PLAIN`, `SCRAM-SHA-256`, `OAUTHBEARER`) → a maker of what serves one login.
Mechanisms = Mapping[str, Callable[[], SaslServer]]


class ScramAccount(NamedTuple):
    """The account of a SCRAM user name: with a password of its own, or of a delegation token."""

    credential: Credential
    principal: str
    expires_ms: int | None = None
    is_by_token: bool = False
    is_member: bool = False


#: `(user, extensions)` → the account, None if there is none: the login then goes on as if there were one, and fails at
#: its end. Asked once for each login. `extensions` are the client's own words, `{"tokenauth": "true"}` for a
#: delegation token, whose `user` is the token's id.
Accounts = Callable[[str, Mapping[str, str]], ScramAccount | None]

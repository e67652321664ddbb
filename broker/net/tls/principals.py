"""The principal of a connection by its client's certificate."""

from collections.abc import Callable

from broker.security.distinguished_name import java_name
from broker.security.membership import MEMBER
from broker.security.principal_rules import PrincipalRules
from broker.security.rights import UNLIMITED, Rights
from broker.security.session import Session

#: `(principal, host)`: what that one may do.
RightsOf = Callable[[str, str], Rights]


class Identify:
    """Called with a session and the certificate of its client, DER. ValueError or NoRuleMatches: it is nobody's."""

    def __init__(self, rules: PrincipalRules, rights_of: RightsOf = lambda _principal, _host: UNLIMITED):
        self._rules = rules
        self._rights_of = rights_of

    def __call__(self, session: Session, certificate: bytes) -> None:
        principal = f"User:{self._rules.user_of(subject_of(certificate))}"
        if principal == MEMBER:
            raise ValueError("a certificate names the cluster itself, whose brokers prove who they are otherwise")
        session.rights = self._rights_of(principal, session.host)
        session.principal = principal


def subject_of(certificate: bytes) -> str:
    """Return the subject in Java's format. ValueError if it is unreadable or empty."""
    from cryptography.x509 import load_der_x509_certificate

    name = java_name(load_der_x509_certificate(certificate).subject.public_bytes())
    if not name:
        raise ValueError("the certificate names no principal")
    return name

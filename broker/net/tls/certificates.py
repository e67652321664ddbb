"""What a broker's own certificate says of it, and whether a new one may say otherwise."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from broker.common.security_limits import CERTIFICATE_ENDS_SOON_DAYS
from broker.keystores.files import BadStore

if TYPE_CHECKING:
    from cryptography import x509


class Claims(NamedTuple):
    """`subject` is compared in canonical form, which heeds neither case nor blanks (KAFKA-14770)."""

    subject: str
    canonical: str
    names: frozenset[str]
    begins: datetime
    ends: datetime


def claims_of(chain: str) -> Claims:
    """Return the claims of the first certificate of a PEM chain. Raises BadStore."""
    from cryptography import x509

    try:
        certificate = x509.load_pem_x509_certificates(chain.encode())[0]
        subject = certificate.subject.rfc4514_string()
        names = {f"{type(name).__name__}:{name.value}" for name in _alternative_names(certificate)}
    except ValueError as error:
        raise BadStore(f"the keystore has a certificate that cannot be read: {error}") from None
    canonical = ",".join(" ".join(part.lower().split()) for part in subject.split(","))
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return Claims(subject, canonical, frozenset(names), begins, ends)


def why_not_valid(claims: Claims, now: datetime) -> str:
    if now < claims.begins:
        return f"the certificate of {claims.subject} is not valid before {claims.begins:%Y-%m-%d %H:%M} UTC"
    if now > claims.ends:
        return f"the certificate of {claims.subject} has expired at {claims.ends:%Y-%m-%d %H:%M} UTC"
    return ""


def why_not_for_long(claims: Claims, now: datetime) -> str:
    """Return a warning for a certificate that is valid now but expires soon; empty otherwise."""
    if now > claims.ends - timedelta(days=CERTIFICATE_ENDS_SOON_DAYS):
        return f"the certificate of {claims.subject} ends at {claims.ends:%Y-%m-%d %H:%M} UTC: renew it"
    return ""


def changes_refused(before: Claims, after: Claims, allow_dn_changes: bool, allow_san_changes: bool) -> str:
    """Return why KIP-978 refuses the new certificate: another subject or a missing alternative name; empty if it does
    not.
    """
    if not allow_dn_changes and before.canonical != after.canonical:
        return (
            f"the new certificate is for {after.subject}, the one in use for {before.subject}; "
            "ssl.allow.dn.changes=true allows it"
        )
    missing = sorted(before.names - after.names)
    if not allow_san_changes and missing:
        return f"the new certificate lacks {', '.join(missing)}; ssl.allow.san.changes=true allows it"
    return ""


def _alternative_names(certificate: "x509.Certificate") -> "list[x509.GeneralName]":
    from cryptography import x509

    try:
        return list(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)
    except x509.ExtensionNotFound:
        return []

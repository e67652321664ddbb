"""What OpenSSL says when a handshake fails, in words for a log."""

import ssl

_IN_WORDS = {
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": "it shows no certificate",
    "NO_SHARED_CIPHER": "no cipher is known to both sides",
    "UNSUPPORTED_PROTOCOL": "its version of TLS is too old",
    "WRONG_VERSION_NUMBER": "it does not speak TLS",
    "HTTP_REQUEST": "it speaks HTTP",
    "TLSV1_ALERT_UNKNOWN_CA": "it does not trust our certificate",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it does not trust our certificate",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it does not take our certificate",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "our certificate has expired, it says",
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "it wants to see our certificate",
}


def why_not(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not taken: {error.verify_message}"
    known = error.reason or ""
    return _IN_WORDS.get(known) or known.lower().replace("_", " ") or str(error)

"""An issuer of bearer tokens for tests: keys of its own, the set of their public halves, and tokens signed by them."""

import base64
import json
import time

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from joserfc import jws
from joserfc.jwk import ECKey, RSAKey

ISSUER, AUDIENCE = "https://issuer.test", "kafka"


class _AnyHeader(jws.JWSRegistry):
    """Signs whatever a header says."""

    def check_header(self, header: dict) -> None:
        pass


def unsigned(**claims) -> str:
    """Return a token with these claims that nobody has signed."""
    return f"{segment({'alg': 'none'})}.{segment(claims)}."


class Issuer:
    def __init__(self):
        self.keys = {"rsa": rsa.generate_private_key(65537, 2048), "ec": ec.generate_private_key(ec.SECP256R1())}

    def jwk(self, key_id: str, **changes) -> dict:
        return {**self._key(key_id).as_dict(private=False), "kid": key_id, "use": "sig", **changes}

    def key_set(self, *key_ids: str) -> bytes:
        return json.dumps({"keys": [self.jwk(key_id) for key_id in key_ids or self.keys]}).encode()

    def token(self, subject: str = "alice", *, key_id: str = "ec", lives_s: float = 3600, **claims) -> str:
        """As an issuer makes it now; claims that are None are left out."""
        now = time.time()
        payload = {"sub": subject, "iat": now, "exp": now + lives_s, "iss": ISSUER, "aud": AUDIENCE, **claims}
        payload = {name: value for name, value in payload.items() if value is not None}
        algorithm = "RS256" if isinstance(self.keys[key_id], rsa.RSAPrivateKey) else "ES256"
        return self.signed({"alg": algorithm, "kid": key_id}, payload)

    def signed(self, header: dict, payload: dict) -> str:
        """A token with a header of one's own."""
        return jws.serialize_compact(header, json.dumps(payload), self._key(header["kid"]), registry=_AnyHeader())

    def _key(self, key_id: str) -> RSAKey | ECKey:
        key = self.keys[key_id]
        return (RSAKey if isinstance(key, rsa.RSAPrivateKey) else ECKey).import_key(key)


def segment(value) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

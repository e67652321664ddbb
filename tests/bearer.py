"""An issuer of bearer tokens for tests: keys of its own, the set of their public halves, and tokens signed by them."""

import base64
import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

ISSUER, AUDIENCE = "https://issuer.test", "kafka"


class Issuer:
    def __init__(self):
        self.keys = {"rsa": rsa.generate_private_key(65537, 2048), "ec": ec.generate_private_key(ec.SECP256R1())}

    def jwk(self, key_id: str, **changes) -> dict:
        public = self.keys[key_id].public_key()
        kind = jwt.algorithms.RSAAlgorithm if isinstance(public, rsa.RSAPublicKey) else jwt.algorithms.ECAlgorithm
        return {**kind.to_jwk(public, as_dict=True), "kid": key_id, "use": "sig", **changes}

    def key_set(self, *key_ids: str) -> bytes:
        return json.dumps({"keys": [self.jwk(each) for each in key_ids or self.keys]}).encode()

    def token(self, subject: str = "alice", *, key_id: str = "ec", lives_s: float = 3600, **claims) -> str:
        """As an issuer makes it now; claims that are None are left out."""
        now = time.time()
        said = {"sub": subject, "iat": now, "exp": now + lives_s, "iss": ISSUER, "aud": AUDIENCE, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        algorithm = "RS256" if isinstance(self.keys[key_id], rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(said, self.keys[key_id], algorithm, headers={"kid": key_id})


def segment(value) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

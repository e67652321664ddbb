"""A small OpenID provider on a port of its own: code, PKCE, client secret, keys that rotate; and ways to be dishonest.

It keeps its side of the protocol (a code is good once, for one client, one redirect URI and one verifier), so a login
that succeeds here was done right. What a test changes on it (`claims`, `lies`, …) is what a hostile one would do.
"""

import base64
import hmac
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jws
from joserfc.jwk import ECKey, KeySet

CLIENT_ID, SECRET = "console", "a secret of the client's"
NONE = base64.urlsafe_b64encode(json.dumps({"alg": "none"}).encode()).rstrip(b"=").decode()


@dataclass
class Code:
    """What was asked for when it was given."""

    query: dict[str, str]
    is_used: bool = False


@dataclass
class OidcProvider:
    """`person` is who logs in next: its claims. The rest are switches for what it does wrong."""

    person: dict[str, object] = field(default_factory=lambda: {"sub": "1001", "preferred_username": "alice"})
    #: Put over the claims of the next tokens; None takes a claim away.
    claims: dict[str, object] = field(default_factory=dict)
    #: Put over the discovery document.
    document: dict[str, object] = field(default_factory=dict)
    #: Signs: the key, by default the one that is published; "none"; or "HS256" with the public key as the secret.
    signs: str = "ES256"
    forgets_key_ids: bool = False
    takes_codes_twice: bool = False
    refuses: str = ""
    #: Answers to a path, raw: (status, headers, body).
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    paths_asked: list[str] = field(default_factory=list)
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: list[dict[str, object]] = field(default_factory=list)
    client_ids: tuple[str, ...] = (CLIENT_ID,)

    def __post_init__(self):
        self.key = self.new_key()
        self.published = [self.key]
        self.logouts: list[dict[str, str]] = []

    def __enter__(self):
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.issuer = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def new_key(self):
        return ECKey.generate_key("P-256", {"kid": secrets.token_hex(4), "use": "sig"})

    def rotate(self, kid: str = "") -> None:
        self.key = ECKey.generate_key("P-256", {"kid": kid or secrets.token_hex(4), "use": "sig"})
        self.published = [self.key]

    def discovery(self) -> dict[str, object]:
        results = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "end_session_endpoint": f"{self.issuer}/end",
            "authorization_response_iss_parameter_supported": True,
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }
        return {key: value for key, value in {**results, **self.document}.items() if value is not None}

    def authorize(self, address: str) -> str:
        """Where the browser is sent back to. Asserts what an honest client has to ask."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert query["response_type"] == "code"
        assert query["client_id"] in self.client_ids
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = Code(query)
        parameters = {"state": query["state"], "iss": self.issuer}
        parameters |= {"error": self.refuses, "error_description": "<b>evil</b>"} if self.refuses else {"code": code}
        return f"{query['redirect_uri']}?{urlencode(parameters)}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, object]]:
        known = base64.b64encode(f"{CLIENT_ID}:{SECRET}".encode()).decode()
        if authorization != f"Basic {known}":
            return 401, {"error": "invalid_client"}
        code = self.codes.get(form.get("code", ""))
        if code is None or (code.is_used and not self.takes_codes_twice):
            return 400, {"error": "invalid_grant"}
        code.is_used = True
        challenge = create_s256_code_challenge(form.get("code_verifier", ""))
        if code.query["redirect_uri"] != form.get("redirect_uri") or challenge != code.query["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        answer = {"access_token": secrets.token_urlsafe(16), "token_type": "Bearer", "expires_in": 300}
        answer["id_token"] = self.id_token(code.query["nonce"])
        self.tokens.append(answer)
        return 200, answer

    def id_token(self, nonce: str) -> str:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "exp": now + 300, "iat": now, "nonce": nonce}
        claims = {**claims, **self.person, **self.claims}
        payload = json.dumps({name: value for name, value in claims.items() if value is not None}).encode()
        if self.signs == "none":
            return f"{NONE}.{_base64(payload)}."
        if self.signs == "HS256":
            signed = f"{_base64(json.dumps({'alg': 'HS256', 'kid': self.key.kid}).encode())}.{_base64(payload)}"
            mac = hmac.digest(self.key.as_pem(private=False), signed.encode(), "sha256")
            return f"{signed}.{_base64(mac)}"
        registry = jws.JWSRegistry(algorithms=["ES256"])
        registry.max_payload_length = 10_000_000
        header = {"alg": "ES256", "kid": self.key.kid}
        if self.forgets_key_ids:
            del header["kid"]
        return jws.serialize_compact(header, payload, self.key, registry=registry)


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class _Handler(BaseHTTPRequestHandler):
    provider: OidcProvider

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.provider.paths_asked.append(path)
        if path in self.provider.answers:
            self._raw(*self.provider.answers[path])
        elif path == "/.well-known/openid-configuration":
            self._json(200, self.provider.discovery())
        elif path == "/keys":
            self._json(200, KeySet(self.provider.published).as_dict(private=False))
        elif path == "/authorize":
            self._raw(302, {"Location": self.provider.authorize(self.path)}, b"")
        elif path == "/end":
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            self.provider.logouts.append(query)
            self._raw(302, {"Location": query["post_logout_redirect_uri"]}, b"")
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        self.provider.paths_asked.append(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        if self.path in self.provider.answers:
            self._raw(*self.provider.answers[self.path])
            return
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self._json(*self.provider.token(form, self.headers.get("Authorization", "")))

    def _json(self, status: int, value: object) -> None:
        self._raw(status, {"Content-Type": "application/json"}, json.dumps(value).encode())

    def _raw(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass

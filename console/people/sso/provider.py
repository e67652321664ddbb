"""The provider of single sign-on as this process knows it: what it says of itself, its keys, and its answers."""

import logging
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, import_key

from console.kit.common.bounded_http import client_options
from console.kit.common.foreign_json import parse_foreign_json
from console.kit.common.owned_files import FileError
from console.people.sso.attempt import Attempt
from console.people.sso.bounds import ANSWER_BYTES_MAX, AWAY_KEPT_S, DISCOVERY_KEPT_S, EXCHANGES_MAX, KEYS_MAX
from console.people.sso.configuration import SingleSignOn, is_safe_address
from console.people.sso.errors import LoginRefusedError, ProviderAwayError
from console.people.sso.id_token import ExpectedClaims, UnknownKeyError, verified_claims

logger = logging.getLogger(__name__)
_BUSY = "Too many people log in at this moment. Try again in a few seconds."


@dataclass(frozen=True, slots=True)
class Discovered:
    """What is used of the discovery document; every address in it is a safe one."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    end_session_endpoint: str
    algorithms: tuple[str, ...]
    client_authentication: tuple[str, ...]
    names_itself_in_answers: bool


class Provider:
    def __init__(self, configuration: SingleSignOn, now_s: Callable[[], float] = time.monotonic):
        self._configuration, self._now_s = configuration, now_s
        self._lock = threading.Lock()
        self._exchanges = threading.BoundedSemaphore(EXCHANGES_MAX)
        self._discovered: Discovered | None = None
        self._keys: KeySet | None = None
        self._ask_again_s = 0.0
        self._away_until_s = 0.0

    def discovered(self) -> Discovered:
        """Return the cached discovery document; a failure is not retried at once. Raises ProviderAwayError."""
        with self._lock:
            if self._discovered is not None and self._now_s() < self._ask_again_s:
                return self._discovered
            if self._now_s() < self._away_until_s:
                raise ProviderAwayError("it did not answer a moment ago")
            try:
                address = f"{self._configuration.issuer.rstrip('/')}/.well-known/openid-configuration"
                self._discovered = _read_discovery(self._get(address), self._configuration.issuer)
            except ProviderAwayError:
                self._away_until_s = self._now_s() + AWAY_KEPT_S
                raise
            self._ask_again_s = self._now_s() + DISCOVERY_KEPT_S
            return self._discovered

    def login_address(self, attempt: Attempt, redirect_uri: str) -> str:
        """Return the address of the login. Raises ProviderAwayError."""
        with self._client(redirect_uri, secret=None) as client:
            address, _ = client.create_authorization_url(
                self.discovered().authorization_endpoint,
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(address)

    def logout_address(self, return_to: str) -> str:
        """Return the provider's logout address; empty if it has none.

        It is told who we are, not who logs out: no token is kept for that, so it may ask the person once more.
        """
        place = self.discovered().end_session_endpoint
        if not place:
            return ""
        parameters = {"client_id": self._configuration.client_id, "post_logout_redirect_uri": return_to}
        return str(httpx2.URL(place).copy_merge_params(parameters))

    def claims_for(self, code: str, attempt: Attempt, redirect_uri: str, now_s: int) -> dict[str, object]:
        """Return the verified claims for the code. Raises LoginRefusedError, ProviderAwayError."""
        if not self._exchanges.acquire(blocking=False):
            raise ProviderAwayError(f"{EXCHANGES_MAX} logins wait for it", _BUSY, 503)
        try:
            token = self._exchange(code, attempt, redirect_uri)
            configuration, discovered = self._configuration, self.discovered()
            expected = ExpectedClaims(
                configuration.issuer, configuration.client_id, attempt.nonce, discovered.algorithms
            )
            tokens = token.get("id_token"), expected, str(token.get("access_token", "")), now_s
            return self._verified(*tokens)
        finally:
            self._exchanges.release()

    def _verified(self, token: object, expected: ExpectedClaims, access_token: str, now_s: int) -> dict[str, object]:
        """Verify the token; for an unknown key the provider's keys are fetched once more."""
        try:
            return verified_claims(token, self._key_set(anew=False), expected, access_token, now_s)
        except UnknownKeyError:
            return verified_claims(token, self._key_set(anew=True), expected, access_token, now_s)

    def _exchange(self, code: str, attempt: Attempt, redirect_uri: str) -> Mapping[str, object]:
        try:
            secret = self._configuration.secret
        except FileError as error:
            raise ProviderAwayError(str(error)) from error
        with self._client(redirect_uri, secret) as client:
            try:
                return client.fetch_token(
                    self.discovered().token_endpoint,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=attempt.verifier,
                    redirect_uri=redirect_uri,
                )
            except OAuthError as error:
                reason = f"the provider refuses the code: {str(error.error)[:60]!r}"
                away = ProviderAwayError if error.error in ("invalid_client", "server_error") else LoginRefusedError
                raise away(reason) from error
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, TypeError, RecursionError) as error:
                raise ProviderAwayError(f"the token endpoint: {type(error).__name__}") from error

    def _key_set(self, anew: bool) -> KeySet:
        with self._lock:
            if self._keys is not None and not anew:
                return self._keys
        key_set = _read_keys(self._get(self.discovered().jwks_uri))
        with self._lock:
            self._keys = key_set
        return key_set

    def _client(self, redirect_uri: str, secret: str | None) -> Any:
        configuration = self._configuration
        return OAuth2Client(
            client_id=configuration.client_id,
            client_secret=secret,
            token_endpoint_auth_method=_authentication(self.discovered().client_authentication, secret),
            scope=configuration.scopes,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            **_options(configuration),
        )

    def _get(self, address: str) -> Mapping[str, object]:
        try:
            with httpx2.Client(**_options(self._configuration)) as client:
                answer = client.get(address, headers={"Accept": "application/json"})
                document = parse_foreign_json(answer.content) if answer.status_code == 200 else None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as error:
            raise ProviderAwayError(f"{address}: {type(error).__name__} {error!s:.100}") from error
        if not isinstance(document, dict):
            raise ProviderAwayError(f"{address}: status {answer.status_code}, and no JSON object")
        return document


@cache
def provider_of(configuration: SingleSignOn) -> Provider:
    """Return the process's provider, which caches what it has fetched."""
    return Provider(configuration)


def _options(configuration: SingleSignOn) -> dict[str, Any]:
    try:
        return client_options(configuration.authority_file, ANSWER_BYTES_MAX)
    except (OSError, ssl.SSLError) as error:
        raise ProviderAwayError(f"{configuration.authority_file} cannot be used: {error}") from error


def _authentication(offered: tuple[str, ...], secret: str | None) -> str:
    """Return how the client authenticates; the default of RFC 8414 where nothing is offered."""
    if secret is None:
        return "none"
    is_posted = "client_secret_post" in offered and "client_secret_basic" not in offered
    return "client_secret_post" if is_posted else "client_secret_basic"


def _read_discovery(document: Mapping[str, object], issuer: str) -> Discovered:
    """Read the discovery document; one of another issuer is refused (OpenID Connect Discovery, 4.3)."""
    if document.get("issuer") != issuer:
        raise ProviderAwayError(f"it says to be {str(document.get('issuer'))[:100]!r}, and {issuer!r} was asked")
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri", "end_session_endpoint")
    fields = {name: str(document.get(name) or "") for name in names}
    for name, address in fields.items():
        if not is_safe_address(address) and (address or name != "end_session_endpoint"):
            raise ProviderAwayError(f"its {name} is no https address: {address[:100]!r}")
    return Discovered(
        **fields,
        algorithms=_texts(document.get("id_token_signing_alg_values_supported")),
        client_authentication=_texts(document.get("token_endpoint_auth_methods_supported")),
        names_itself_in_answers=document.get("authorization_response_iss_parameter_supported") is True,
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list) else ()


def _read_keys(document: Mapping[str, object]) -> KeySet:
    """Read public keys for signatures; others (for encryption, of unknown types) are ignored."""
    key_list = document.get("keys")
    if not isinstance(key_list, list) or len(key_list) > KEYS_MAX:
        raise ProviderAwayError("its keys are no list, or too many")
    keys = []
    for value in key_list:
        if (
            not isinstance(value, dict)
            or value.get("kty") not in ("RSA", "EC", "OKP")
            or value.get("use", "sig") != "sig"
        ):
            continue
        try:
            keys.append(import_key(value))
        except (JoseError, ValueError, TypeError, KeyError) as error:
            logger.warning("single sign-on: one of the provider's keys cannot be used: %s", type(error).__name__)
    return KeySet(keys)

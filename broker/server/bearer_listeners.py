"""Where bearer tokens are taken: the keys of each listener that offers OAUTHBEARER, out of its settings."""

from collections.abc import Callable

from broker.common.clock import Clock
from broker.common.errors import ApiError, StartupError
from broker.config.listener_settings import ListenerSettings
from broker.runtime.security.jwks import BearerTokens, JwksSettings
from broker.runtime.security.jwks_fetch import parse_place
from broker.security.bearer_tokens import BearerRules
from broker.security.sasl.jaas import parse_jaas
from broker.security.sasl.oauthbearer import MECHANISM, OAuthBearerServer


class BearerListeners:
    """Those that were asked for before `start` are kept until `stop`."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._by_settings: dict[JwksSettings, BearerTokens] = {}

    def maker_for(self, listener: ListenerSettings) -> Callable[[], OAuthBearerServer]:
        """What serves one login there. Raises StartupError.

        As in Kafka `ssl.truststore.location` among the options of the login module is for the server of the keys.
        """
        jaas = listener.of_mechanism(MECHANISM).sasl_jaas_config
        options = parse_jaas(jaas.value).options if jaas else {}
        return self.tokens_of(listener, options.get("ssl.truststore.location")).server

    def tokens_of(self, listener: ListenerSettings, ca_file: str | None = None) -> BearerTokens:
        """Listeners with the same settings share their keys. Raises StartupError."""
        settings = jwks_settings(listener, ca_file)
        return self._by_settings.setdefault(settings, BearerTokens(settings, self._clock))

    async def start(self) -> None:
        """Raises StartupError."""
        for tokens in self._by_settings.values():
            await tokens.start()

    def stop(self) -> None:
        for tokens in self._by_settings.values():
            tokens.stop()


def jwks_settings(listener: ListenerSettings, ca_file: str | None = None) -> JwksSettings:
    """Kafka would take tokens that nobody has signed where no keys are named; here that does not start: StartupError.

    `ca_file` has the certificates by which the server of the keys is known, if not by those of the system.
    """
    settings = listener.of_mechanism(MECHANISM)
    url = settings.sasl_oauthbearer_jwks_endpoint_url
    if not url:
        raise StartupError(
            f"listener {listener.name} offers {MECHANISM}: sasl.oauthbearer.jwks.endpoint.url must say where the keys "
            "are that tokens are signed with; tokens that nobody has signed are not taken."
        )
    try:
        place = parse_place(url)
    except ApiError as error:
        raise StartupError(f"listener {listener.name}: {error}.") from None
    return JwksSettings(
        place,
        BearerRules(
            settings.sasl_oauthbearer_expected_issuer,
            settings.sasl_oauthbearer_expected_audience,
            1000 * settings.sasl_oauthbearer_clock_skew_seconds,
            settings.sasl_oauthbearer_sub_claim_name,
            settings.sasl_oauthbearer_scope_claim_name,
        ),
        settings.sasl_oauthbearer_jwks_endpoint_refresh_ms,
        settings.sasl_oauthbearer_jwks_endpoint_retry_backoff_ms,
        settings.sasl_oauthbearer_jwks_endpoint_retry_backoff_max_ms,
        ca_file,
    )

"""Where bearer tokens are taken: the keys of each listener that offers OAUTHBEARER, out of its settings."""

from collections.abc import Callable, Mapping

from broker.common.clock import Clock
from broker.common.errors import ApiError, StartupError
from broker.common.logs import logger
from broker.config.definition import parse_int
from broker.config.listener_settings import ListenerSettings
from broker.runtime.security.jwks import BearerTokens, JwksSettings
from broker.runtime.security.jwks_fetch import parse_place
from broker.security.bearer_tokens import Bearer, BearerRules
from broker.security.sasl.jaas import parse_jaas
from broker.security.sasl.oauthbearer import MECHANISM, OAuthBearerServer
from broker.security.unsecured_tokens import VALIDATOR, read_unsecured

_log = logger(__name__)


class BearerListeners:
    """Listeners added before `start` are kept until `stop`."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self._by_settings: dict[JwksSettings, BearerTokens] = {}

    def maker_for(self, listener: ListenerSettings) -> Callable[[], OAuthBearerServer]:
        """Return the factory of the listener's login servers. Raises StartupError.

        As in Kafka `ssl.truststore.location` among the options of the login module is for the server of the keys.
        """
        settings = listener.of_mechanism(MECHANISM)
        jaas = settings.sasl_jaas_config
        options = parse_jaas(jaas.value).options if jaas else {}
        if settings.sasl_server_callback_handler_class == VALIDATOR:
            return self._unsecured(settings, options)
        return self.tokens_of(listener, options.get("ssl.truststore.location")).server

    def _unsecured(self, settings: ListenerSettings, options: Mapping[str, str]) -> Callable[[], OAuthBearerServer]:
        if settings.sasl_oauthbearer_jwks_endpoint_url:
            raise StartupError(
                f"listener {settings.name}: sasl.oauthbearer.jwks.endpoint.url says where keys are, and "
                f"sasl.server.callback.handler.class={VALIDATOR} that tokens need none; leave one of them out."
            )
        rules = unsecured_rules(settings.name, options)
        _log.warning("unsigned tokens are accepted: any client can be any user", listener=settings.name)

        async def believed(token: str) -> Bearer:
            return read_unsecured(token, rules, self._clock.now_ms())

        return lambda: OAuthBearerServer(believed)

    def tokens_of(self, listener: ListenerSettings, ca_file: str | None = None) -> BearerTokens:
        """Return the verifier of tokens; listeners with the same settings share their keys. Raises StartupError."""
        settings = jwks_settings(listener, ca_file)
        return self._by_settings.setdefault(settings, BearerTokens(settings, self._clock))

    async def start(self) -> None:
        """Raises StartupError."""
        for tokens in self._by_settings.values():
            await tokens.start()

    def stop(self) -> None:
        for tokens in self._by_settings.values():
            tokens.stop()


def unsecured_rules(listener: str, options: Mapping[str, str]) -> BearerRules:
    """Return what a token without a signature must say, by Kafka's options of the login module. Raises StartupError."""
    skew = options.get("unsecuredValidatorAllowableClockSkewMs", "0")
    try:
        skew_ms = parse_int(skew)
    except ValueError:
        skew_ms = -1
    if skew_ms < 0:
        raise StartupError(
            f"listener {listener}: unsecuredValidatorAllowableClockSkewMs={skew} must be a number from 0."
        )
    return BearerRules(
        clock_skew_ms=skew_ms,
        subject_claim=options.get("unsecuredValidatorPrincipalClaimName", "sub"),
        scope_claim=options.get("unsecuredValidatorScopeClaimName", "scope"),
        needs_issue_time=False,
        checks_audience=False,
    )


def jwks_settings(listener: ListenerSettings, ca_file: str | None = None) -> JwksSettings:
    """Return the JWKS settings. Kafka would accept unsigned tokens where no keys are named; here that does not start:
    StartupError.

    `ca_file` has the certificates by which the server of the keys is known, if not by those of the system.
    """
    settings = listener.of_mechanism(MECHANISM)
    url = settings.sasl_oauthbearer_jwks_endpoint_url
    if not url:
        raise StartupError(
            f"listener {listener.name} offers {MECHANISM}: sasl.oauthbearer.jwks.endpoint.url must say where the keys "
            "are that tokens are signed with; unsigned tokens are not accepted, unless, for development, "
            f"listener.name.{listener.name.lower()}.{MECHANISM.lower()}.sasl.server.callback.handler.class={VALIDATOR}."
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

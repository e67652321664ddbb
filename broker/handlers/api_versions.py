"""ApiVersions: computed from the list of handlers, so that nothing is promised that is not served.

Of the login's own APIs clients are told where they have to log in.
"""

from collections.abc import Iterable, Mapping

from broker.common.errors import ErrorCode
from broker.config.broker import BrokerConfig
from broker.handlers.handler import Handler, LastVersion, public
from broker.protocol.api_keys import OWN_APIS_FROM, ApiKey
from broker.protocol.messages.api_versions import (
    OWN_SOFTWARE,
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
    names_its_software,
    names_whole_broker,
)
from broker.runtime.requests.context import RequestContext

_FIRST, _LAST = 0, 5
#: Before this version clients cannot read of a feature that its lowest level is 0 (KAFKA-17011).
_LEVEL_0_FROM = 4
_OWN = ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=_FIRST, max_version=_LAST)


_OF_LOGIN = (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)


def api_versions_handler(others: Iterable[Handler]) -> Handler:
    """Return the ApiVersions handler of `others`; private APIs are listed to cluster members only."""
    of_login = [_advertised(other.api, *other.served) for other in others if other.api in _OF_LOGIN]
    advertised = [_advertised(handler.api, *handler.advertised) for handler in others if handler.advertised is not None]
    told_to_own = sorted([*advertised, _OWN], key=lambda version: version.api_key)
    told_to_all = [key for key in told_to_own if key.api_key < OWN_APIS_FROM]
    by_settings: dict[int, LastVersion] = {
        handler.api: handler.last_if for handler in others if handler.last_if is not None
    }

    def handle_api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
        if not (names_its_software(request, context.api_version) and names_whole_broker(request)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        if request.cluster_id is not None and not _is_meant(request, context):
            return ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
        context.session.introduce(request.client_software_name, request.client_software_version)
        is_own = request.client_software_name == OWN_SOFTWARE
        api_keys = told_to_own if is_own else told_to_all
        door = context.session.door
        if door is not None and door.is_for_clients:
            api_keys = sorted([*api_keys, *of_login], key=lambda key: key.api_key)
        api_keys = [_as_set(key, by_settings, context.services.config) for key in api_keys]
        finalized = context.services.features.finalized
        return ApiVersionsResponse(
            api_keys=api_keys,
            supported_features=_supported(context),
            finalized_features_epoch=finalized.epoch,
            finalized_features=[
                FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
                for name, level in finalized.levels.items()
            ],
        )

    return public(ApiKey.API_VERSIONS, _FIRST, _LAST, handle_api_versions)


def _is_meant(request: ApiVersionsRequest, context: RequestContext) -> bool:
    """Whether the client has reached whom it wanted, and not another broker that has the address by now."""
    services = context.services
    return (request.cluster_id, request.node_id) == (services.cluster_id, services.config.broker_id)


def _supported(context: RequestContext) -> list[SupportedFeatureKey]:
    return [
        SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
        for name, lowest, highest in context.services.features.supported
        if lowest > 0 or context.api_version >= _LEVEL_0_FROM
    ]


def _as_set(key: ApiVersion, by_settings: Mapping[int, LastVersion], config: BrokerConfig) -> ApiVersion:
    """Return what the broker serves of the API by its settings."""
    last_if = by_settings.get(key.api_key)
    return key if last_if is None else _advertised(ApiKey(key.api_key), key.min_version, last_if(config))


def _advertised(api: ApiKey, first: int, last: int) -> ApiVersion:
    return ApiVersion(api_key=api, min_version=first, max_version=last)


def unsupported_version_response() -> ApiVersionsResponse:
    """Return the answer, in version 0, to an ApiVersions request of a version we do not know (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_OWN])

"""ApiVersions: computed from the list of handlers, so that nothing is promised that is not served."""

from collections.abc import Iterable

from broker.common.errors import ErrorCode
from broker.handlers.handler import Handler, RequestContext, public
from broker.protocol.api_keys import OWN_APIS_FROM, ApiKey
from broker.protocol.messages.api_versions import (
    OWN_SOFTWARE,
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)

_FIRST, _LAST = 0, 4
_OWN = ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=_FIRST, max_version=_LAST)


def api_versions_handler(others: Iterable[Handler]) -> Handler:
    """The handler that tells of itself and of `others`, of this broker's own APIs only those who know what they are."""
    told = [
        ApiVersion(api_key=handler.api, min_version=handler.advertised[0], max_version=handler.advertised[1])
        for handler in others
        if handler.advertised is not None
    ]
    told_to_own = sorted([*told, _OWN], key=lambda each: each.api_key)
    told_to_all = [each for each in told_to_own if each.api_key < OWN_APIS_FROM]

    def handle_api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
        is_own = request.client_software_name == OWN_SOFTWARE
        return ApiVersionsResponse(api_keys=told_to_own if is_own else told_to_all)

    return public(ApiKey.API_VERSIONS, _FIRST, _LAST, handle_api_versions)


def unsupported_version_response() -> ApiVersionsResponse:
    """The answer, in version 0, to an ApiVersions request of a version we do not know (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_OWN])

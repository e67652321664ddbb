"""ApiVersions: computed from the list of handlers, so that nothing is promised that is not served."""

from collections.abc import Iterable

from broker.common.errors import ErrorCode
from broker.handlers.handler import Handler, RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse

_FIRST, _LAST = 0, 4
_OWN = ApiVersion(api_key=ApiKey.API_VERSIONS, min_version=_FIRST, max_version=_LAST)


def api_versions_handler(others: Iterable[Handler]) -> Handler:
    """The handler that tells of itself and of `others`."""
    told = [
        ApiVersion(api_key=handler.api, min_version=handler.advertised[0], max_version=handler.advertised[1])
        for handler in others
        if handler.advertised is not None
    ]
    api_keys = sorted([*told, _OWN], key=lambda each: each.api_key)

    def handle_api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
        return ApiVersionsResponse(api_keys=api_keys)

    return public(ApiKey.API_VERSIONS, _FIRST, _LAST, handle_api_versions)


def unsupported_version_response() -> ApiVersionsResponse:
    """The answer, in version 0, to an ApiVersions request of a version we do not know (KIP-511)."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_OWN])

"""ApiVersions: computed from the registry, so that nothing is promised that is not served."""

from functools import cache

from broker.common.errors import ErrorCode
from broker.handlers.handler import RequestContext, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse


@cache
def _api_keys() -> tuple[ApiVersion, ...]:
    from broker.handlers.registry import HANDLERS  # the registry lists this file

    return tuple(
        ApiVersion(api_key=handler.api, min_version=handler.advertised[0], max_version=handler.advertised[1])
        for handler in sorted(HANDLERS, key=lambda handler: handler.api)
        if handler.advertised is not None
    )


def handle_api_versions(request: ApiVersionsRequest, context: RequestContext) -> ApiVersionsResponse:
    return ApiVersionsResponse(api_keys=list(_api_keys()))


def unsupported_version_response() -> ApiVersionsResponse:
    """The answer, in version 0, to an ApiVersions request of a version we do not know (KIP-511)."""
    own = [each for each in _api_keys() if each.api_key == ApiKey.API_VERSIONS]
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=own)


HANDLER = public(ApiKey.API_VERSIONS, 0, 4, handle_api_versions)

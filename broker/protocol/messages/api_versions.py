"""ApiVersions: which requests, in which versions, the broker answers. The first request of nearly every connection."""

import re

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, boolean, int16, int32, int64, string, wire

#: What programs of this product say their `client_software_name` is.
OWN_SOFTWARE = "barnabas"


class ApiVersionsRequest(Request["ApiVersionsResponse"], api=ApiKey.API_VERSIONS, versions=(0, 5), flexible_from=3):
    """A client asks what it may send; allowed before authentication.

    3: the client names itself (KIP-511). 4: features with minimum version 0 may be answered. 5: the client names the
    broker that it means (KIP-1242).
    """

    client_software_name: str = wire(string, since=3, ignorable=True)  #: letters, digits, '.' and '-' only
    client_software_version: str = wire(string, since=3, ignorable=True)
    cluster_id: str | None = wire(string, since=5, nullable=True, default=None, ignorable=True)
    node_id: int = wire(int32, since=5, default=-1, ignorable=True)


_SOFTWARE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.\-]*[A-Za-z0-9])?")


def names_its_software(request: ApiVersionsRequest, version: int) -> bool:
    """Return whether name and version of the client's software are such, as KIP-511 wants it from version 3 on."""
    names_and_version = (request.client_software_name, request.client_software_version)
    return version < 3 or all(_SOFTWARE.fullmatch(name) for name in names_and_version)


def names_whole_broker(request: ApiVersionsRequest) -> bool:
    """Return whether the broker that the client means is named by cluster and id, or not at all (KIP-1242)."""
    return (request.cluster_id is None) == (request.node_id == -1)


class ApiVersion(Struct):
    api_key: int = wire(int16)
    min_version: int = wire(int16)  #: inclusive
    max_version: int = wire(int16)  #: inclusive


class SupportedFeatureKey(Struct):
    name: str = wire(string)
    min_version: int = wire(int16)
    max_version: int = wire(int16)


class FinalizedFeatureKey(Struct):
    name: str = wire(string)
    max_version_level: int = wire(int16)
    min_version_level: int = wire(int16)


class ApiVersionsResponse(Message, api=ApiKey.API_VERSIONS, versions=(0, 5), flexible_from=3):
    """The table of versions. A request in an unknown version is answered in version 0 with UNSUPPORTED_VERSION.

    1: throttle time. 3: features (KIP-584).
    """

    error_code: int = wire(int16)
    api_keys: list[ApiVersion] = wire(array(ApiVersion))
    throttle_time_ms: int = wire(int32, since=1, ignorable=True)
    supported_features: list[SupportedFeatureKey] = wire(array(SupportedFeatureKey), since=3, tag=0, ignorable=True)
    finalized_features_epoch: int = wire(int64, since=3, tag=1, default=-1, ignorable=True)  #: -1 when unknown
    finalized_features: list[FinalizedFeatureKey] = wire(array(FinalizedFeatureKey), since=3, tag=2, ignorable=True)
    zk_migration_ready: bool = wire(boolean, since=3, tag=3, ignorable=True)

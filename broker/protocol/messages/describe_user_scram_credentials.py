"""DescribeUserScramCredentials: which users have a SCRAM password, never what it is (KIP-554)."""

from enum import IntEnum

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Message, Request, Struct, array, int8, int16, int32, string, wire


class ScramMechanism(IntEnum):
    """Values of `mechanism`."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2


class UserName(Struct):
    name: str = wire(string)


class DescribeUserScramCredentialsRequest(
    Request["DescribeUserScramCredentialsResponse"],
    api=ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    versions=(0, 0),
    flexible_from=0,
):
    """`users` None describes all users."""

    users: list[UserName] | None = wire(array(UserName), nullable=True)  #: null or empty for all


class CredentialInfo(Struct):
    mechanism: int = wire(int8)  #: a ScramMechanism
    iterations: int = wire(int32)


class DescribeUserScramCredentialsResult(Struct):
    user: str = wire(string)
    error_code: int = wire(int16)  #: RESOURCE_NOT_FOUND for a user without credentials
    error_message: str | None = wire(string, nullable=True)
    credential_infos: list[CredentialInfo] = wire(array(CredentialInfo))


class DescribeUserScramCredentialsResponse(
    Message, api=ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, versions=(0, 0), flexible_from=0
):
    """An error for the whole request, or one result for each user."""

    throttle_time_ms: int = wire(int32)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)
    results: list[DescribeUserScramCredentialsResult] = wire(array(DescribeUserScramCredentialsResult))

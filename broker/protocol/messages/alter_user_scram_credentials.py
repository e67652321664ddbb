"""AlterUserScramCredentials: give users SCRAM passwords, or take them away (KIP-554)."""

from broker.protocol.api_keys import ApiKey
from broker.protocol.schema import Buffer, Message, Request, Struct, array, bytes_, int8, int16, int32, string, wire


class ScramCredentialDeletion(Struct):
    name: str = wire(string)
    mechanism: int = wire(int8)  #: a ScramMechanism


class ScramCredentialUpsertion(Struct):
    name: str = wire(string)
    mechanism: int = wire(int8)  #: a ScramMechanism
    iterations: int = wire(int32)  #: 4096 to 16384
    salt: Buffer = wire(bytes_, secret=True)
    salted_password: Buffer = wire(bytes_, secret=True)  #: hashed by the client with salt and iterations


class AlterUserScramCredentialsRequest(
    Request["AlterUserScramCredentialsResponse"],
    api=ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
    versions=(0, 0),
    flexible_from=0,
):
    """Change the credentials of some users, each succeeding or failing alone."""

    deletions: list[ScramCredentialDeletion] = wire(array(ScramCredentialDeletion))
    upsertions: list[ScramCredentialUpsertion] = wire(array(ScramCredentialUpsertion))


class AlterUserScramCredentialsResult(Struct):
    user: str = wire(string)
    error_code: int = wire(int16)
    error_message: str | None = wire(string, nullable=True)


class AlterUserScramCredentialsResponse(
    Message, api=ApiKey.ALTER_USER_SCRAM_CREDENTIALS, versions=(0, 0), flexible_from=0
):
    """One result for each user."""

    throttle_time_ms: int = wire(int32)
    results: list[AlterUserScramCredentialsResult] = wire(array(AlterUserScramCredentialsResult))

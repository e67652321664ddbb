"""DescribeUserScramCredentials: which users have a SCRAM password, and of how many iterations (KIP-554)."""

from collections import Counter

from broker.common.errors import ErrorCode
from broker.handlers.handler import Handler, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.credentials import OfUser, UserCredentials
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.sasl.stored_credentials import NAMES

_EMPTY = "Username must not be empty"
_ABSENT = "Attempt to describe a user credential that does not exist"
_TWICE = "Cannot describe SCRAM credentials for the same user twice in a single request"


async def handle_describe_user_scram_credentials(
    request: DescribeUserScramCredentialsRequest, context: RequestContext
) -> DescribeUserScramCredentialsResponse:
    if not context.session.rights.may(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return _all_refused(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    credentials = context.services.credentials
    if request.users:
        return await _described([user.name for user in request.users], credentials)
    by_user = await credentials.of_users(await credentials.users())
    results = [_result(user, of) for user, of in by_user.items() if of]
    return DescribeUserScramCredentialsResponse(results=_in_order(results))


async def _described(names: list[str], credentials: UserCredentials) -> DescribeUserScramCredentialsResponse:
    counts = Counter(names)
    by_user = await credentials.of_users(user for user, count in counts.items() if user and count == 1)
    results = [_result(user, of) if of else _absent(user) for user, of in by_user.items()]
    for user, count in counts.items():
        if count > 1:
            results.append(_refused(user, ErrorCode.DUPLICATE_RESOURCE, f"{_TWICE}: {user}"))
        elif not user:
            results.append(_refused(user, ErrorCode.RESOURCE_NOT_FOUND, _EMPTY))
    return DescribeUserScramCredentialsResponse(results=_in_order(results))


def _all_refused(request: DescribeUserScramCredentialsRequest, code: ErrorCode) -> DescribeUserScramCredentialsResponse:
    """Return the error at the top and for each user, as Kafka does: librdkafka 2.16 reads as many results as users."""
    results = [_refused(user.name, code, code.meaning) for user in request.users or ()]
    return DescribeUserScramCredentialsResponse(error_code=code, error_message=code.meaning, results=results)


def _in_order(results: list[DescribeUserScramCredentialsResult]) -> list[DescribeUserScramCredentialsResult]:
    return sorted(results, key=lambda result: result.user)


def _result(user: str, credentials: OfUser) -> DescribeUserScramCredentialsResult:
    infos = [
        CredentialInfo(mechanism=number, iterations=credentials[name].iterations)
        for number, name in NAMES.items()
        if name in credentials
    ]
    return DescribeUserScramCredentialsResult(user=user, credential_infos=infos)


def _absent(user: str) -> DescribeUserScramCredentialsResult:
    return _refused(user, ErrorCode.RESOURCE_NOT_FOUND, f"{_ABSENT}: {user}")


def _refused(user: str, code: ErrorCode, why: str) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(user=user, error_code=code, error_message=why)


HANDLER: Handler = public(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, 0, handle_describe_user_scram_credentials)

"""AlterUserScramCredentials: give users SCRAM passwords, or take them away (KIP-554); the controller does it.

What comes is salted and hashed already, what is kept are the two keys that follow from it.
"""

from broker.common.errors import ApiError, ErrorCode
from broker.handlers.handler import Handler, public
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.credentials import UserCredentials
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.sasl.stored_credentials import UserChange, changes_of


async def handle_alter_user_scram_credentials(
    request: AlterUserScramCredentialsRequest, context: RequestContext
) -> AlterUserScramCredentialsResponse:
    if not context.services.controller.is_controller:
        return _refused(request, ErrorCode.NOT_CONTROLLER)
    if not context.session.rights.may(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME):
        return _refused(request, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    changes = changes_of(request.deletions, request.upsertions)
    results = [await _carried_out(user, change, context.services.credentials) for user, change in changes.items()]
    return AlterUserScramCredentialsResponse(results=results)


async def _carried_out(
    user: str, change: UserChange | ApiError, credentials: UserCredentials
) -> AlterUserScramCredentialsResult:
    try:
        if isinstance(change, ApiError):
            raise change
        await credentials.change(user, change)
    except ApiError as error:
        return AlterUserScramCredentialsResult(user=user, error_code=error.code, error_message=error.message)
    return AlterUserScramCredentialsResult(user=user, error_message=None)


def _refused(request: AlterUserScramCredentialsRequest, code: ErrorCode) -> AlterUserScramCredentialsResponse:
    deleted, upserted = (
        [deletion.name for deletion in request.deletions],
        [upsertion.name for upsertion in request.upsertions],
    )
    users = dict.fromkeys(deleted + upserted)
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user=user, error_code=code, error_message=code.meaning) for user in users
        ]
    )


HANDLER: Handler = public(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, 0, handle_alter_user_scram_credentials)

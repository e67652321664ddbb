"""SCRAM credentials of a real cluster, by Describe- and AlterUserScramCredentials (KIP-554)."""

import secrets
from collections import Counter
from collections.abc import Collection, Mapping
from hashlib import pbkdf2_hmac

from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from broker.protocol.messages.describe_acls import DescribeAclsRequest
from broker.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from broker.security.acls.model import PatternType, Permission
from broker.security.operations import AclOperation, ResourceType
from broker.security.sasl.stored_credentials import NAMES
from broker.security.scram import HASHES, SALT_LENGTH, SALT_LETTERS
from console.kit.gateway.connection.any_broker import ask
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.credentials.interface import CredentialsView, Mechanisms
from console.kit.gateway.errors import GatewayError, refusal

_NOT_SERVED = "These brokers keep no SCRAM credentials of users: passwords are stored elsewhere, or are not used."
_NUMBERS = {name: number for number, name in NAMES.items()}
_EVERY_RULE = DescribeAclsRequest(
    resource_type_filter=ResourceType.ANY,
    resource_name_filter=None,
    pattern_type_filter=PatternType.ANY,
    principal_filter=None,
    host_filter=None,
    operation=AclOperation.ANY,
    permission_type=Permission.ANY,
)


class KafkaCredentials:
    def __init__(self, client: ClusterClient):
        self._client = client

    @property
    def own_user(self) -> str:
        sasl = self._client.security().sasl
        return "" if sasl is None or sasl.is_delegation_token else sasl.username

    def describe(self) -> CredentialsView:
        request = DescribeUserScramCredentialsRequest(users=None)
        answer = ask(self._client, lambda cluster: cluster.ask_any(request), _NOT_SERVED)
        if answer.error_code:
            raise refusal(answer.error_code, answer.error_message or "")
        users = {
            result.user: {
                NAMES[info.mechanism]: info.iterations for info in result.credential_infos if info.mechanism in NAMES
            }
            for result in answer.results
            if not result.error_code
        }
        return CredentialsView({user: of for user, of in users.items() if of}, self._rule_counts())

    def set_password(self, user: str, password: str, mechanisms: Mechanisms) -> None:
        made = [upsertion(user, password, name, iterations) for name, iterations in mechanisms.items()]
        self._alter(AlterUserScramCredentialsRequest(deletions=[], upsertions=made))

    def delete(self, user: str, mechanisms: Collection[str]) -> None:
        gone = deletions(user, mechanisms)
        self._alter(AlterUserScramCredentialsRequest(deletions=gone, upsertions=[]))

    def _alter(self, request: AlterUserScramCredentialsRequest) -> None:
        answer: AlterUserScramCredentialsResponse = ask(
            self._client, lambda cluster: cluster.ask_controller(request), _NOT_SERVED
        )
        for result in answer.results:
            if result.error_code:
                raise refusal(result.error_code, result.error_message or "")

    def _rule_counts(self) -> Mapping[str, int] | None:
        try:
            answer = ask(self._client, lambda cluster: cluster.ask_any(_EVERY_RULE), _NOT_SERVED)
        except GatewayError:
            return None
        if answer.error_code:
            return None
        principals = (acl.principal for resource in answer.resources for acl in resource.acls)
        return Counter(principal.removeprefix("User:") for principal in principals if principal.startswith("User:"))


def upsertion(user: str, password: str, mechanism: str, iterations: int) -> ScramCredentialUpsertion:
    """Return the upsertion with a salt in Kafka's format; takes milliseconds."""
    salt = bytes(secrets.choice(SALT_LETTERS) for _ in range(SALT_LENGTH))
    return ScramCredentialUpsertion(
        name=user,
        mechanism=_NUMBERS[mechanism],
        iterations=iterations,
        salt=salt,
        salted_password=pbkdf2_hmac(HASHES[mechanism], password.encode(), salt, iterations),
    )


def deletions(user: str, mechanisms: Collection[str]) -> list[ScramCredentialDeletion]:
    return [ScramCredentialDeletion(name=user, mechanism=_NUMBERS[mechanism]) for mechanism in mechanisms]

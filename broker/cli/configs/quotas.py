"""`kafka-configs` for users, clients and addresses: quotas, and the SCRAM credentials of users."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from broker.cli.configs.config_changes import (
    ConfigEdits,
    quota_values,
    require_quotas,
    scram_deletions,
    scram_upsertion,
)
from broker.cli.configs.config_entities import CLIENTS, IPS, USERS, Entity
from broker.cli.configs.config_listing import quota_as_json, scram_line
from broker.cli.frame.answers import check
from broker.cli.frame.declaration import CommandError
from broker.cli.frame.output import print_json
from broker.client.cluster import ClusterConnections
from broker.client.errors import ApiNotServed
from broker.common.errors import ErrorCode
from broker.protocol.messages.alter_client_quotas import AlterClientQuotasRequest, EntityData, EntryData, OpData
from broker.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from broker.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    QuotaMatchType,
)
from broker.protocol.messages.describe_client_quotas import EntryData as DescribedQuotas
from broker.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResult,
    UserName,
)
from broker.security.scram import SALT_LENGTH, SALT_LETTERS

_WIRE_TYPES = {USERS: "user", CLIENTS: "client-id", IPS: "ip"}
_HAVE_NO_QUOTAS = "The brokers keep no quotas: they do not limit what users, clients and addresses may use."
_HAVE_NO_PASSWORDS = "The brokers keep no SCRAM credentials of users."


def describe_quotas(
    cluster: ClusterConnections, entities: Sequence[Entity], line: Callable[[DescribedQuotas], str], *, as_json: bool
) -> None:
    """Describe quotas; `line` formats each. Raises ApiError, CommandError where a cluster has no quotas."""
    quotas = _quotas(cluster, entities)
    credentials = _credentials(cluster, entities[0]) if _may_have_credentials(entities) else []
    if as_json:
        print_json(
            [quota_as_json(quota) for quota in quotas]
            + [_credentials_as_json(credential) for credential in credentials]
        )
        return
    for quota in quotas:
        print(line(quota))
    for credential in credentials:
        print(scram_line(credential))


def alter_quotas(cluster: ClusterConnections, entities: Sequence[Entity], changes: ConfigEdits) -> None:
    """Raises ApiError, CommandError."""
    of_scram, of_quotas = changes.of_scram(), changes.of_others()
    is_of_users = [entity.type for entity in entities] == [USERS]
    require_quotas(changes, CLIENTS if len(entities) > 1 else entities[0].type, takes_scram=is_of_users)
    if of_scram and not (_may_have_credentials(entities) and entities[0].name):
        raise CommandError("SCRAM credentials are a user's: name it with --entity-type users --entity-name or --user")
    if of_quotas:
        _alter_quotas(cluster, entities, of_quotas)
    if of_scram:
        _alter_credentials(cluster, str(entities[0].name), of_scram)


def _alter_quotas(cluster: ClusterConnections, entities: Sequence[Entity], changes: ConfigEdits) -> None:
    values = quota_values(changes.added)
    present = {value.key for entry in _quotas(cluster, entities) for value in entry.values}
    if absent := [key for key in changes.deleted if key not in present]:
        raise CommandError(f"Invalid config(s): {','.join(absent)}")
    entry = EntryData(
        entity=[
            EntityData(entity_type=_WIRE_TYPES[entity.type], entity_name=entity.name or None) for entity in entities
        ],
        ops=[OpData(key=key, value=value, remove=False) for key, value in values.items()]
        + [OpData(key=key, value=0.0, remove=True) for key in changes.deleted],
    )
    with _kept_by_the_cluster(_HAVE_NO_QUOTAS):
        answer = cluster.ask_controller(AlterClientQuotasRequest(entries=[entry], validate_only=False))
    for result in answer.entries:
        check(result.error_code, result.error_message)


def _alter_credentials(cluster: ClusterConnections, user: str, changes: ConfigEdits) -> None:
    upsertions = [new_upsertion(user, key, text) for key, text in changes.added.items()]
    request = AlterUserScramCredentialsRequest(deletions=scram_deletions(user, changes), upsertions=upsertions)
    with _kept_by_the_cluster(_HAVE_NO_PASSWORDS):
        answer = cluster.ask_controller(request)
    for result in answer.results:
        check(result.error_code, result.error_message)


def new_upsertion(user: str, key: str, text: str) -> ScramCredentialUpsertion:
    """Return credentials with a new salt, formatted as Kafka formats them so that they cannot be told apart."""
    salt = bytes(secrets.choice(SALT_LETTERS) for _ in range(SALT_LENGTH))
    return scram_upsertion(user, key, text, salt)


def _quotas(cluster: ClusterConnections, entities: Sequence[Entity]) -> list[DescribedQuotas]:
    request = DescribeClientQuotasRequest(components=[component(entity) for entity in entities], strict=True)
    with _kept_by_the_cluster(_HAVE_NO_QUOTAS):
        answer = cluster.ask_controller(request)
    check(answer.error_code, answer.error_message)
    return list(answer.entries or ())


def component(entity: Entity) -> ComponentData:
    """Return the filter component of the entity: every entity of its type if it has no name."""
    if entity.name is None:
        match = QuotaMatchType.ANY
    else:
        match = QuotaMatchType.EXACT if entity.name else QuotaMatchType.DEFAULT
    return ComponentData(entity_type=_WIRE_TYPES[entity.type], match_type=match, match=entity.name or None)


def _may_have_credentials(entities: Sequence[Entity]) -> bool:
    return [entity.type for entity in entities] == [USERS] and entities[0].name != ""


def _credentials(cluster: ClusterConnections, user: Entity) -> list[DescribeUserScramCredentialsResult]:
    """Return SCRAM credentials, none from a cluster without them: its quotas have been printed by then."""
    request = DescribeUserScramCredentialsRequest(users=[UserName(name=user.name)] if user.name else None)
    try:
        answer = cluster.ask_controller(request)
    except ApiNotServed:
        return []
    check(answer.error_code, answer.error_message)
    results = [result for result in answer.results if result.error_code != ErrorCode.RESOURCE_NOT_FOUND]
    for result in results:
        check(result.error_code, result.error_message)
    return results


def _credentials_as_json(result: DescribeUserScramCredentialsResult) -> dict[str, object]:
    return {"user": result.user, "scram": [{"iterations": info.iterations} for info in result.credential_infos]}


@contextmanager
def _kept_by_the_cluster(otherwise: str) -> Iterator[None]:
    try:
        yield
    except ApiNotServed:
        raise CommandError(otherwise) from None

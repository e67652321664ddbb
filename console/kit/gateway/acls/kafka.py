"""Access lists of a real cluster, asked and changed by the three APIs of ACLs; what decides beside them by settings."""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from broker.client.errors import ApiNotServed, BrokerUnreachable
from broker.client.security.properties import ClientSecurity
from broker.common.errors import BarnabasError, ErrorCode
from broker.config.authorizer import parse_super_users
from broker.protocol.messages import AnyResponse
from broker.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from broker.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from broker.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResource
from broker.protocol.messages.describe_requests import (
    DescribeRequestsDenials,
    DescribeRequestsRequest,
    DescribeRequestsResponse,
)
from broker.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from broker.protocol.schema import Request
from broker.security.acls.model import AclEntry, Binding, Pattern, PatternType, Permission
from broker.security.operations import AclOperation, ResourceType
from broker.security.session import ANONYMOUS
from console.kit.gateway.acls.interface import AclRule, AclView, Denials, binding_of, rule_of
from console.kit.gateway.brokers.interface import BrokerSetting
from console.kit.gateway.brokers.kafka import KafkaBrokers
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.connection.membership import ConsoleMembership
from console.kit.gateway.errors import GatewayError, RefusedError, refusal, unanswered

logger = logging.getLogger(__name__)

#: Rules in one request: each is a znode, written one after the other.
RULES_PER_REQUEST = 200
#: For so many changes, and for the rules of a large cluster.
_TIMEOUT_S = 20.0
_EVERYTHING = DescribeAclsRequest(
    resource_type_filter=ResourceType.ANY,
    resource_name_filter=None,
    pattern_type_filter=PatternType.ANY,
    principal_filter=None,
    host_filter=None,
    operation=AclOperation.ANY,
    permission_type=Permission.ANY,
)


class KafkaAcls:
    def __init__(self, client: ClusterClient, brokers: KafkaBrokers, membership: ConsoleMembership):
        self._client = client
        self._brokers = brokers
        self._membership = membership

    def look(self) -> AclView:
        answer = self._ask(_EVERYTHING)
        if answer.error_code:
            raise _refusal_of_all(answer)
        rules = [rule for resource in answer.resources for rule in _rules(resource)]
        known = [item for item in rules if item is not None]
        super_users, allows_if_none = _deciding_settings(self._brokers.settings().values())
        return AclView(
            rules=tuple(sorted(known)),
            super_users=super_users,
            allows_if_none=allows_if_none,
            own_principal=own_principal(self._client.security()),
            users=self._users(),
            unknown_count=len(rules) - len(known),
        )

    def create(self, rules: Collection[AclRule]) -> Mapping[AclRule, str]:
        refused: dict[AclRule, str] = {}
        for number, some in enumerate(_batches(sorted(rules))):
            answer = self._ask(CreateAclsRequest(creations=[_creation(*binding_of(item)) for item in some]))
            if number == 0:
                _check_all(answer.results)
            refused |= {rule: _why(result) for rule, result in zip(some, answer.results, strict=True) if _why(result)}
        return refused

    def delete(self, rules: Collection[AclRule]) -> Mapping[AclRule, str]:
        refused = {}
        for number, some in enumerate(_batches(sorted(rules))):
            answer = self._ask(DeleteAclsRequest(filters=[_filter(*binding_of(item)) for item in some]))
            if number == 0:
                _check_all(answer.filter_results)
            for rule, result in zip(some, answer.filter_results, strict=True):
                whys = [_why(acl) for acl in (result, *result.matching_acls)]
                if why := next(filter(None, whys), ""):
                    refused[rule] = why
        return refused

    def denials(self) -> tuple[Denials, ...] | None:
        answers = self._brokers.ask_each(lambda _: DescribeRequestsRequest(), self._membership())
        responses = [answer for answer in answers.values() if isinstance(answer, DescribeRequestsResponse)]
        if not any(response.error_code == 0 for response in responses):
            return None
        by_principal: dict[str, list[DescribeRequestsDenials]] = {}
        for denial in (one for answer in responses for one in answer.denials):
            by_principal.setdefault(denial.principal, []).append(denial)
        return tuple(sorted(map(_denials, by_principal.values()), key=lambda denials: -denials.last_at_ms))

    def _users(self) -> tuple[str, ...]:
        """Return the users; none where the cluster has none, or does not tell: rules are shown all the same."""
        try:
            answer = self._ask(DescribeUserScramCredentialsRequest(users=None))
        except GatewayError as error:
            logger.debug("users not known: %s", error)
            return ()
        return tuple(sorted(f"User:{result.user}" for result in answer.results if not result.error_code))

    def _ask(self, request: Request[AnyResponse]) -> AnyResponse:
        try:
            with self._client.cluster(_TIMEOUT_S) as cluster:
                return cluster.ask_any(request)
        except ApiNotServed as error:
            raise GatewayError("These brokers know no access lists.") from error
        except BrokerUnreachable as error:
            raise unanswered(error) from error
        except BarnabasError as error:
            raise GatewayError(str(error)) from error


def own_principal(security: ClientSecurity) -> str:
    """Return the principal of a connection by the default principal builder; empty if only the brokers know it."""
    sasl, tls = security.sasl, security.tls
    if sasl is not None:
        return f"User:{sasl.username}" if sasl.username and not sasl.is_delegation_token else ""
    return "" if tls is not None and tls.keystore is not None else ANONYMOUS


def _deciding_settings(
    brokers: Collection[tuple[BrokerSetting, ...]],
) -> tuple[frozenset[str] | None, bool | None]:
    """Return super users and the default that all brokers agree on: one broker's super user is not reliable."""
    values = [{setting.name: setting.value for setting in settings} for settings in brokers]
    texts = [item.get("super.users") for item in values]
    allowing = [item.get("allow.everyone.if.no.acl.found") for item in values]
    super_users = None
    if texts and None not in texts:
        super_users = frozenset.intersection(*(_super_users(text or "") for text in texts))
    is_told = bool(allowing) and None not in allowing
    return super_users, all(name == "true" for name in allowing) if is_told else None


def _super_users(text: str) -> frozenset[str]:
    try:
        return frozenset(parse_super_users(text).principals)
    except ValueError:
        return frozenset()


def _rules(resource: DescribeAclsResource) -> Iterator[AclRule | None]:
    """Yield the rules; None for one with a type unknown here."""
    for acl in resource.acls:
        try:
            pattern = Pattern(
                ResourceType(resource.resource_type), resource.resource_name, PatternType(resource.pattern_type)
            )
            entry = AclEntry(acl.principal, acl.host, AclOperation(acl.operation), Permission(acl.permission_type))
        except ValueError:
            yield None
        else:
            yield rule_of(Binding(pattern, entry))


def _creation(pattern: Pattern, entry: AclEntry) -> AclCreation:
    return AclCreation(
        resource_type=pattern.kind,
        resource_name=pattern.name,
        resource_pattern_type=pattern.type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def _filter(pattern: Pattern, entry: AclEntry) -> DeleteAclsFilter:
    """Return a filter that means this one rule."""
    return DeleteAclsFilter(
        resource_type_filter=pattern.kind,
        resource_name_filter=pattern.name,
        pattern_type_filter=pattern.type,
        principal_filter=entry.principal,
        host_filter=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def _refusal_of_all(answer: Any) -> RefusedError:
    """Return the refusal of a request about ACLs: the cluster has none, or the console may not see them."""
    refused = refusal(answer.error_code, answer.error_message or "")
    if answer.error_code != ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        return refused
    return RefusedError(refused.code, f"{refused} To look at access lists needs Describe, to change them Alter.")


def _check_all(results: Sequence[Any]) -> None:
    """Raises RefusedError for what is no fault of one rule; brokers say it of each."""
    for result in results:
        if result.error_code in (ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.SECURITY_DISABLED):
            raise _refusal_of_all(result)


def _why(result: Any) -> str:
    return str(refusal(result.error_code, result.error_message or "")) if result.error_code else ""


def _denials(responses: Sequence[DescribeRequestsDenials]) -> Denials:
    """Return a principal's denials, summed over the brokers."""
    last = max(responses, key=lambda denials: denials.last_at_ms)
    return Denials(
        last.principal,
        sum(denials.count for denials in responses),
        last.last_at_ms,
        last.last_principal,
        last.last_host,
        AclOperation(last.last_operation).name,
        ResourceType(last.last_resource_type).name,
        last.last_resource_name,
    )


def _batches(rules: Sequence[AclRule]) -> Iterator[Sequence[AclRule]]:
    return (rules[at : at + RULES_PER_REQUEST] for at in range(0, len(rules), RULES_PER_REQUEST))

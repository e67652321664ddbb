"""DescribeRequests: what was counted of this broker's answers, and what it cannot answer for."""

from broker.common.shared_budget import UNATTRIBUTED, SharedBudget
from broker.handlers.handler import for_members
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_requests import (
    DescribeRequestsBucket,
    DescribeRequestsBudget,
    DescribeRequestsDenials,
    DescribeRequestsError,
    DescribeRequestsOwner,
    DescribeRequestsQuotaUse,
    DescribeRequestsRequest,
    DescribeRequestsResponse,
    DescribeRequestsResult,
    DescribeRequestsUncleanable,
)
from broker.runtime.request_times import ApiTimes
from broker.runtime.requests.context import RequestContext
from broker.runtime.security.authorizer_log import AuthorizerLog
from broker.security.operations import CLUSTER_NAME, AclOperation, ResourceType
from broker.security.quotas.client_quotas import QuotaSensor
from broker.security.rights import Rights

#: Partitions that are told as uncleanable, and characters of each reason.
UNCLEANABLE_TOLD_MAX, UNCLEANABLE_REASON_LENGTH_MAX = 100, 300


def handle_describe_requests(_request: DescribeRequestsRequest, context: RequestContext) -> DescribeRequestsResponse:
    services = context.services
    results = [_result(api, times) for api, times in services.request_times]
    return DescribeRequestsResponse(
        results=[result for result in results if result.count],
        group_coordinators_not_loaded=len(services.groups.not_loaded),
        transaction_coordinators_not_loaded=len(services.transactions.not_loaded),
        quota_uses=[_use(use) for use in (*services.quotas.uses(), *services.quotas.address_uses())],
        denials=_denials(services.authorizer.log) if services.authorizer else [],
        foreign_brokers=sorted(services.controller.foreign_brokers),
        uncleanable=[
            DescribeRequestsUncleanable(topic=topic, partition=number, reason=reason[:UNCLEANABLE_REASON_LENGTH_MAX])
            for (topic, number), reason in services.log_dirs.uncleanable()[:UNCLEANABLE_TOLD_MAX]
        ],
        budgets=[
            _budget(name, budget, services.clock.now_ms())
            for memory in (services.group_memory, services.transactions.memory)
            for name, budget in memory.budgets()
        ],
    )


def _result(api: ApiKey, times: ApiTimes) -> DescribeRequestsResult:
    durations = times.durations
    return DescribeRequestsResult(
        api_key=api,
        count=durations.count,
        error_count=times.error_count,
        max_us=-(-durations.max_ns // 1_000),
        buckets=[DescribeRequestsBucket(up_to_us=up_to, count=count) for up_to, count in durations.buckets],
        errors=[DescribeRequestsError(code=code, count=count) for code, count in sorted(times.errors.items())],
    )


def _use(use: QuotaSensor) -> DescribeRequestsQuotaUse:
    return DescribeRequestsQuotaUse(
        key=str(use.key),
        user=use.user,
        client_id=use.client_id,
        limit=use.bound,
        rate=use.rate,
        throttled_ms=use.throttled_ms,
        ip=use.ip,
    )


def _budget(name: str, budget: SharedBudget, now_ms: int) -> DescribeRequestsBudget:
    last_at_ms = budget.refused_at_ms
    owner, held_by_client = budget.largest() or (UNATTRIBUTED, 0)
    largest = DescribeRequestsOwner(principal=owner.principal, host=owner.host, held=held_by_client)
    return DescribeRequestsBudget(
        name=name,
        size=budget.size,
        held=budget.held,
        refused=budget.refused,
        refused_ms_ago=-1 if last_at_ms is None else max(now_ms - last_at_ms, 0),
        owners=[largest] if held_by_client else [],
        principal=largest.principal,
        host=largest.host,
        held_by_client=largest.held,
    )


def _denials(log: AuthorizerLog) -> list[DescribeRequestsDenials]:
    return [
        DescribeRequestsDenials(
            principal=principal,
            count=log.denials[principal],
            last_at_ms=last.at_ms,
            last_principal=last.principal,
            last_host=last.host,
            last_operation=last.operation,
            last_resource_type=last.kind,
            last_resource_name=last.name,
        )
        for principal, last in log.latest.items()
    ]


def _may_describe(rights: Rights) -> bool:
    return rights.may(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME)


HANDLER = for_members(ApiKey.DESCRIBE_REQUESTS, 0, 5, handle_describe_requests, others_may=_may_describe)

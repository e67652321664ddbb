"""DescribeRequests: what was counted of this broker's answers, and what it cannot answer for."""

from broker.handlers.handler import RequestContext, for_members
from broker.protocol.api_keys import ApiKey
from broker.protocol.messages.describe_requests import (
    DescribeRequestsBucket,
    DescribeRequestsError,
    DescribeRequestsRequest,
    DescribeRequestsResponse,
    DescribeRequestsResult,
)
from broker.runtime.request_times import ApiTimes


def handle_describe_requests(_request: DescribeRequestsRequest, context: RequestContext) -> DescribeRequestsResponse:
    services = context.services
    results = [_result(api, times) for api, times in services.request_times]
    return DescribeRequestsResponse(
        results=[each for each in results if each.count],
        group_coordinators_not_loaded=len(services.groups.not_loaded),
        transaction_coordinators_not_loaded=len(services.transactions.not_loaded),
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


HANDLER = for_members(ApiKey.DESCRIBE_REQUESTS, 0, 1, handle_describe_requests)

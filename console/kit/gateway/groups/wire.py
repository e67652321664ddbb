"""Groups asked of the brokers that coordinate them, in a few requests for all of a broker's groups.

The admin client asks for the offsets of one group at a time, which is thousands of requests where three are enough.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from broker.client.cluster import parse_bootstrap_servers
from broker.common.errors import BarnabasError, ErrorCode
from broker.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest
from broker.protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from console.kit.gateway.connection.at_once import Address, BrokerResponses, ask_at_once
from console.kit.gateway.connection.client import ClusterClient
from console.kit.gateway.errors import (
    ClientRefusedError,
    ClusterUnreachableError,
    GatewayError,
    OtherClusterError,
    as_gateway_errors,
    refusal,
    unanswered,
)
from console.kit.gateway.groups.described import Inquiry, inquiries, read_views
from console.kit.gateway.groups.interface import GroupView

logger = logging.getLogger(__name__)

T = TypeVar("T")


def ask_all_groups(
    client: ClusterClient, brokers: Iterable[tuple[int, str, int]], timeout_seconds: float
) -> tuple[list[GroupView], frozenset[int]]:
    """Return the groups of every broker (id, host, port) that tells them, and the ids of those that do.

    A broker tells none that does not know all of its groups: they are loaded, or have just moved away. Raises
    GatewayError if none does, with what one answered rather than that others did not.
    """
    ids = {(host, port): broker_id for broker_id, host, port in brokers}
    failures: list[GatewayError] = []
    listed = ask_at_once(client, {id_: [ListGroupsRequest()] for id_ in ids}, timeout_seconds)
    names = _views_by_broker(listed, lambda _address, heard: _listed(*heard.answers), failures)
    by_address = {item: inquiries(groups, listed[item].served) for item, groups in names.items()}
    questions = {item: [request for one in of_one for request in one.requests] for item, of_one in by_address.items()}
    responses = ask_at_once(client, {item: some for item, some in questions.items() if some}, timeout_seconds)
    described = {name: responses.get(name, BrokerResponses()) for name in names}
    others = _others(client, by_address, timeout_seconds)
    groups = _views_by_broker(
        described,
        lambda address, heard: list(
            read_views(by_address[address], heard.answers, others.get(address, ()), ids[address])
        ),
        failures,
    )
    if not groups:
        raise min(failures, key=_is_unanswered, default=unanswered())
    return [group for listed in groups.values() for group in listed], frozenset(ids[group] for group in groups)


def _others(
    client: ClusterClient, inquiries: Mapping[Address, Sequence[Inquiry]], timeout_seconds: float
) -> dict[Address, Sequence[Any]]:
    """Return the responses to what other brokers have to answer as well; of a broker that is late there are none."""
    questions = {item: [request for one in of_one for request in one.others] for item, of_one in inquiries.items()}
    responses = ask_at_once(client, {item: some for item, some in questions.items() if some}, timeout_seconds)
    for address, heard in responses.items():
        if heard.error is not None:
            logger.debug("no offsets of share groups of broker %s:%s: %s", *address, heard.error)
    return {address: heard.answers for address, heard in responses.items() if heard.error is None}


def _views_by_broker(
    responses: Mapping[Address, BrokerResponses],
    read: Callable[[Address, BrokerResponses], list[T]],
    failures: list[GatewayError],
) -> dict[Address, list[T]]:
    """Read each broker's response; brokers without one are noted in `failures`. Raises if the console is not let in."""
    results = {}
    for address, heard in responses.items():
        try:
            with as_gateway_errors():
                if heard.error is not None:
                    raise heard.error
                results[address] = read(address, heard)
        except (ClientRefusedError, OtherClusterError):
            raise
        except GatewayError as error:
            logger.debug("no groups of broker %s:%s: %s", *address, error)
            failures.append(error)
    return results


def _is_unanswered(failure: GatewayError) -> bool:
    return isinstance(failure, ClusterUnreachableError)


def _listed(listed: ListGroupsResponse) -> list[ListedGroup]:
    if listed.error_code:
        raise refusal(listed.error_code)
    return list(listed.groups)


def ask_group(client: ClusterClient, group_id: str, timeout_seconds: float) -> GroupView:
    """Return the group as its coordinator describes it: only the coordinator's list tells its type.

    Raises RefusedError if the coordinator says no, BarnabasError if it cannot be asked.
    """
    coordinator = _find_coordinator(client, group_id, timeout_seconds)
    with client.connection(coordinator.host, coordinator.port, timeout_seconds) as connection:
        listed = [group for group in _listed(connection.ask(ListGroupsRequest())) if group.group_id == group_id]
        group_inquiries = inquiries(listed or [ListedGroup(group_id=group_id)], connection.served)
        answers = [connection.ask(request) for api in group_inquiries for request in api.requests]
        others = [connection.ask(request) for item in group_inquiries for request in item.others]
    views = list(read_views(group_inquiries, answers, others, coordinator.node_id))
    return views[0] if views else GroupView(group_id, "Dead", "", coordinator.node_id, (), {})


def _find_coordinator(client: ClusterClient, group_id: str, timeout_seconds: float) -> Coordinator:
    failure: BarnabasError | None = None
    with client.cluster(timeout_seconds) as cluster:
        for address in parse_bootstrap_servers(client.bootstrap_servers):
            try:
                answer = cluster.connection(*address).ask(FindCoordinatorRequest(coordinator_keys=[group_id]))
            except BarnabasError as error:
                failure = error
                continue
            (coordinator,) = answer.coordinators
            if coordinator.error_code:
                raise refusal(coordinator.error_code, coordinator.error_message or "")
            return coordinator
    raise failure or refusal(ErrorCode.COORDINATOR_NOT_AVAILABLE)

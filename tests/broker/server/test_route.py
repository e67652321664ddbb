"""What every API's requests are held to before they are decoded."""

from dataclasses import replace

import pytest

from broker.common.errors import ProtocolError
from broker.common.limits import PEER_REQUEST_BYTES_MAX
from broker.handlers.handler import ORDINARY, Handler, RequestBudget
from broker.handlers.registry import HANDLERS
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import encode
from broker.protocol.messages import MESSAGES
from broker.protocol.schema import Array, Message, Primitive, WireField
from broker.runtime.request_times import ApiTimes
from broker.server.route import Route

_ALL = [(handler, version) for handler in HANDLERS for version in range(handler.served[0], handler.served[1] + 1)]


def lists_of(handler: Handler, version: int) -> list[WireField]:
    fields = MESSAGES[handler.api].request.fields
    return [field for field in fields if isinstance(field.type, Array) and field.exists_in(version)]


def with_elements(handler: Handler, field: WireField, count: int) -> Message:
    element = field.type.element
    made = element.default if isinstance(element, Primitive) else element()
    return MESSAGES[handler.api].request(**{field.name: [made] * count})


@pytest.mark.parametrize(("handler", "version"), _ALL, ids=lambda part: getattr(part, "api", part))
def test_every_api_refuses_lists_beyond_its_budget_before_it_makes_them(handler, version):
    route = Route(replace(handler, budget=RequestBudget(1_000, 3), members_budget=None), version, ApiTimes())
    for field in lists_of(handler, version):
        route.decode(encode(with_elements(handler, field, 3), version), 0)
        with pytest.raises(ProtocolError, match="more than 3 elements"):
            route.decode(encode(with_elements(handler, field, 4), version), 0)


def test_only_record_batches_and_brokers_may_bring_much():
    unbounded = {handler.api for handler in HANDLERS if handler.budget.bytes_max > PEER_REQUEST_BYTES_MAX}
    assert unbounded == {ApiKey.PRODUCE}
    for_peers = {item.api for item, version in _ALL if item.budget_of(version).bytes_max == PEER_REQUEST_BYTES_MAX}
    assert for_peers == {
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.WRITE_TXN_MARKERS,
    }
    assert not [
        (item.api, version)
        for item, version in _ALL
        if item.budget_of(version).bytes_max == PEER_REQUEST_BYTES_MAX and not item.is_for_members(version)
    ], "what is for brokers only"
    few = {handler.api for handler in HANDLERS if handler.budget.entries_max < ORDINARY.entries_max}
    assert few == {ApiKey.PRODUCE}

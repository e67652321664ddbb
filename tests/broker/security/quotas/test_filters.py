"""Which quotas are described: a table of filters, and what each finds among entities of every kind."""

import pytest

from broker.common.errors import ApiError, ErrorCode
from broker.security.quotas.entities import entity_at
from broker.security.quotas.filters import read_filter

EXACT, DEFAULT, ANY = 0, 1, 2
THERE = (
    "users/u",
    "users/<default>",
    "users/u/clients/c",
    "users/u/clients/<default>",
    "users/<default>/clients/c",
    "clients/c",
    "clients/<default>",
    "ips/1.2.3.4",
    "ips/<default>",
)


@pytest.mark.parametrize(
    ("components", "is_strict", "expected"),
    [
        ([], False, THERE),
        ([], True, ()),
        ([("user", EXACT, "u")], True, ("users/u",)),
        ([("user", EXACT, "u")], False, ("users/u", "users/u/clients/c", "users/u/clients/<default>")),
        ([("user", DEFAULT, None)], True, ("users/<default>",)),
        ([("user", ANY, None)], True, ("users/u", "users/<default>")),
        ([("user", ANY, None)], False, THERE[:5]),
        ([("client-id", EXACT, "c")], True, ("clients/c",)),
        ([("client-id", EXACT, "c")], False, ("users/u/clients/c", "users/<default>/clients/c", "clients/c")),
        ([("user", EXACT, "u"), ("client-id", ANY, None)], True, ("users/u/clients/c", "users/u/clients/<default>")),
        ([("user", DEFAULT, None), ("client-id", EXACT, "c")], False, ("users/<default>/clients/c",)),
        ([("user", EXACT, "nobody")], False, ()),
        ([("ip", ANY, None)], True, ("ips/1.2.3.4", "ips/<default>")),
        ([("ip", EXACT, "1.2.3.4")], False, ("ips/1.2.3.4",)),
    ],
)
def test_what_a_filter_finds(components, is_strict, expected):
    entity_filter = read_filter(components, is_strict=is_strict)
    assert tuple(path for path in THERE if entity_filter.matches(entity_at(path))) == expected


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([("", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, None), ("user", EXACT, "u")], ErrorCode.INVALID_REQUEST),
        ([("ip", ANY, None), ("user", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("client-id", ANY, None), ("ip", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("user", EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([("user", DEFAULT, "u")], ErrorCode.INVALID_REQUEST),
        ([("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([("group", ANY, None)], ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_a_filter_that_cannot_be_is_refused(components, code):
    with pytest.raises(ApiError) as refused:
        read_filter(components, is_strict=False)
    assert refused.value.code is code

"""Request and response headers, compared with kio's where it has the API."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.request_header.v1.header import RequestHeader as KioHeader1
from kio.schema.request_header.v2.header import RequestHeader as KioHeader2
from kio.serial import entity_writer

from broker.common.errors import ProtocolError
from broker.protocol.api_keys import ApiKey
from broker.protocol.headers import (
    RequestHeader,
    decode_request_header,
    decode_response_header,
    encode_request_header,
)
from tests.response_headers import encode_response_header

CLASSIC = RequestHeader(ApiKey.PRODUCE, 8, 77, "rdkafka")
FLEXIBLE = RequestHeader(ApiKey.PRODUCE, 9, 77, "rdkafka")


@pytest.mark.parametrize(
    "header", [CLASSIC, FLEXIBLE, CLASSIC._replace(client_id=None), FLEXIBLE._replace(client_id="é")]
)
def test_request_header_survives(header):
    frame = encode_request_header(header)
    assert decode_request_header(frame + b"body") == (header, len(frame))
    assert decode_request_header(memoryview(bytearray(frame))) == (header, len(frame))


@pytest.mark.parametrize(("header", "theirs"), [(CLASSIC, KioHeader1), (FLEXIBLE, KioHeader2)])
def test_request_header_is_that_of_kio(header, theirs):
    buffer = io.BytesIO()
    entity_writer(theirs)(
        buffer,
        theirs(
            request_api_key=int(header.api_key),
            request_api_version=header.api_version,
            correlation_id=header.correlation_id,
            client_id=header.client_id,
        ),
    )
    assert encode_request_header(header) == buffer.getvalue()


def test_tagged_fields_of_the_header_are_skipped():
    frame = encode_request_header(FLEXIBLE)[:-1] + b"\1\x09\3abc" + b"body"
    assert decode_request_header(frame) == (FLEXIBLE, len(frame) - 4)


def test_more_tagged_fields_than_any_header_has_are_refused():
    frame = encode_request_header(FLEXIBLE)[:-1] + b"\x80\1" + b"\x09\0" * 128
    with pytest.raises(ProtocolError, match="announces 128 tagged fields"):
        decode_request_header(frame)


@pytest.mark.parametrize(
    ("api_key", "api_version"), [(999, 0), (-1, 3), (ApiKey.API_VERSIONS, 50), (ApiKey.PRODUCE, 2)]
)
def test_header_of_an_unknown_api_or_version_is_still_read(api_key, api_version):
    frame = encode_request_header(RequestHeader(api_key, api_version, 5, "who"))
    header, _ = decode_request_header(frame + b"\xff\xff whatever")
    assert header == RequestHeader(api_key, api_version, 5, "who")


def test_known_api_key_is_given_its_name():
    header, _ = decode_request_header(encode_request_header(CLASSIC))
    assert header.api_key is ApiKey.PRODUCE


@pytest.mark.parametrize("header", [CLASSIC, FLEXIBLE])
def test_truncated_request_header_is_a_protocol_error(header):
    frame = encode_request_header(header)
    for length in range(len(frame)):
        with pytest.raises(ProtocolError):
            decode_request_header(frame[:length])


@pytest.mark.parametrize("client_id", [b"\xff\xfe", b"\x00\x02\xff\xff", b"\x7f\xffx"])
def test_impossible_client_id_is_a_protocol_error(client_id):
    with pytest.raises(ProtocolError):
        decode_request_header(encode_request_header(CLASSIC)[:8] + client_id)


@given(st.binary(max_size=60))
def test_noise_is_a_header_or_a_protocol_error(noise):
    try:
        _, at = decode_request_header(noise)
    except ProtocolError:
        return
    assert 10 <= at <= len(noise)


@pytest.mark.parametrize(
    ("api_key", "api_version", "expected"),
    [
        (ApiKey.PRODUCE, 8, b"\0\0\0\x4d"),
        (ApiKey.PRODUCE, 9, b"\0\0\0\x4d\0"),
        (ApiKey.API_VERSIONS, 0, b"\0\0\0\x4d"),
        (ApiKey.API_VERSIONS, 3, b"\0\0\0\x4d"),
        (ApiKey.CONTROLLED_SHUTDOWN, 3, b"\0\0\0\x4d\0"),
    ],
)
def test_response_header_is_flexible_with_its_request_except_for_api_versions(api_key, api_version, expected):
    assert encode_response_header(api_key, api_version, 77) == expected
    assert decode_response_header(api_key, api_version, expected + b"body") == (77, len(expected))
    for length in range(len(expected)):
        with pytest.raises(ProtocolError):
            decode_response_header(api_key, api_version, expected[:length])

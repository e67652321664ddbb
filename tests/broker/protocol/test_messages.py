"""Every message in every version: there and back, and any damage on the way is a ProtocolError and nothing else."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.common.errors import ProtocolError
from broker.protocol.api_keys import ApiKey
from broker.protocol.codec import MALFORMED, decode, encode, stepwise_decoder_of
from broker.protocol.messages import MESSAGES
from tests.examples import examples, some

VERSIONS = [
    (message, version)
    for pair in MESSAGES.values()
    for message in pair
    for version in range(message.versions[0], message.versions[1] + 1)
]
every_message = pytest.mark.parametrize(
    "message", [message for pair in MESSAGES.values() for message in pair], ids=lambda message: message.__name__
)


def versions_of(message):
    return range(message.versions[0], message.versions[1] + 1)


@every_message
def test_message_survives_encoding_and_decoding(message, sample):
    for version in versions_of(message):
        for seed in range(examples(8)):
            sent = sample(message, version, seed)
            assert decode(message, encode(sent, version), version) == sent, version
            assert _decode_in_steps(message, encode(sent, version), version) == sent, version


@every_message
def test_message_of_defaults_survives(message):
    for version in versions_of(message):
        assert decode(message, encode(message(), version), version) == message(), version


@every_message
def test_decoding_does_not_depend_on_the_kind_of_buffer(message, sample):
    for version in versions_of(message):
        sent = sample(message, version)
        body = encode(sent, version)
        inside_a_larger_buffer = memoryview(bytearray(b"before" + body + b"after"))[6 : 6 + len(body)]
        assert decode(message, bytearray(body), version) == sent, version
        assert decode(message, inside_a_larger_buffer, version) == sent, version


@every_message
def test_truncated_body_is_a_protocol_error(message, sample):
    for version in versions_of(message):
        body = _short_body(message, version, sample)
        for length in some(range(len(body))):
            with pytest.raises(ProtocolError):
                decode(message, body[:length], version)


@every_message
def test_bytes_after_the_message_are_a_protocol_error(message, sample):
    for version in versions_of(message):
        with pytest.raises(ProtocolError):
            decode(message, encode(sample(message, version), version) + b"\0", version)


def _short_body(message, version, sample):
    """Short enough to be cut at every byte, with something in it if chance allows."""
    bodies = (encode(sample(message, version, seed), version) for seed in range(20))
    return min(bodies, key=lambda body: abs(len(body) - 300))


@settings(max_examples=examples(1500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_body_is_decoded_or_refused(data, sample):
    message, version = data.draw(st.sampled_from(VERSIONS))
    body = bytearray(encode(sample(message, version, data.draw(st.integers(0, 3))), version))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(body) - 1)))
        body[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=5))
    _decode_or_refuse(message, bytes(body), version)


@settings(max_examples=examples(1000))
@given(st.sampled_from(VERSIONS), st.binary(max_size=200))
def test_noise_is_decoded_or_refused(message_version, noise):
    _decode_or_refuse(message_version[0], noise, message_version[1])


def _decode_in_steps(message, body, version):
    steps = stepwise_decoder_of(message, version)(body, 0)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        return end.value
    except MALFORMED:
        raise ProtocolError from None


def _decode_or_refuse(message, body, version):
    """In steps and in one go alike."""
    try:
        decoded = decode(message, body, version)
    except ProtocolError:
        with pytest.raises(ProtocolError):
            _decode_in_steps(message, body, version)
        return
    assert encode(_decode_in_steps(message, body, version), version) == encode(decoded, version)
    again = encode(decoded, version)
    # Compared as bytes: a quota may be NaN, which does not equal itself.
    assert encode(decode(message, again, version), version) == again


def test_request_and_response_of_an_api_have_the_same_versions():
    for api, pair in MESSAGES.items():
        assert pair.request.api is pair.response.api is api
        assert pair.request.versions == pair.response.versions
        assert pair.request.flexible_from == pair.response.flexible_from
        assert pair.request.__name__.removesuffix("Request") == pair.response.__name__.removesuffix("Response")


def test_versions_outside_the_declaration_are_refused():
    request, _ = MESSAGES[ApiKey.FETCH]
    for version in (-1, 3, 19):
        with pytest.raises(ProtocolError, match="versions 4 to 18"):
            decode(request, b"", version)
        with pytest.raises(ProtocolError, match="versions 4 to 18"):
            encode(request(), version)

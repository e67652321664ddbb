import pytest

from broker.connect.api import ConfigError, DataError, Field, Schema, Struct, Type
from broker.connect.api import schema as types
from broker.connect.plugins.http_bodies import body_form, headers_of
from broker.connect.plugins.http_sink import HttpSinkConnector, HttpSinkTask
from tests.broker.connect.plugins.runner import SinkContext, sink_record, started

PEAR = Schema(Type.STRUCT, fields=(Field("kind", types.STRING),))


def body(values, **settings):
    given = {"http.api.url": "http://h/"} | {key.replace("_", "."): value for key, value in settings.items()}
    form = body_form(HttpSinkConnector.CONFIG.parse(given))
    return form.joined([form.encode(sink_record(offset, *value)) for offset, value in enumerate(values)])


def test_bodies_are_arrays_of_json_or_texts_as_they_are():
    values = [("ripe", types.STRING), (Struct(PEAR, {"kind": "conference"}), PEAR), (7, None)]
    assert body(values) == b'["ripe",{"kind":"conference"},7]'
    assert body(values, request_body_format="string") == b'ripe,{"kind":"conference"},7'
    lines = {"request_body_format": "string", "batch_separator": r"\n", "batch_prefix": "<", "batch_suffix": r">\n"}
    assert body([("a", None), (b"b", None)], **lines) == b"<a\nb>\n"
    assert body([(7, None)], batch_json_as_array="false") == b"7"


def test_headers_are_lines_and_keep_their_secrets():
    assert headers_of("h", "X-Farm: 7\n\nAccept:application/json") == {"x-farm": "7", "accept": "application/json"}
    for text in ("X Farm: 7", "no colon", "Host: other", "Content-Length: 1", "a: b\x00"):
        with pytest.raises(ConfigError, match="configuration h"):
            headers_of("h", text)
    with pytest.raises(ConfigError, match=r"http\.authorization") as refused:
        headers_of("h", "Authorization: Bearer pears")
    assert "pears" not in str(refused.value)


def test_a_body_of_several_values_is_an_array():
    given = {"http.api.url": "http://h/", "batch.json.as.array": "false"}
    assert [item.name for item in HttpSinkConnector().validate(given) if item.errors] == ["batch.json.as.array"]


@pytest.mark.parametrize(("behavior", "errant", "sent"), [("ignore", 0, []), ("fail", 1, []), ("send", 0, [b"[null]"])])
def test_a_null_value_is_what_its_setting_says(behavior, errant, sent):
    context, bodies = SinkContext(), []
    task = started(HttpSinkTask(), {"http.api.url": "http://h/", "behavior.on.null.values": behavior}, context)
    task._ask = lambda request: (bodies.append(request), (200, None))[1]
    task.put([sink_record(0, None)])
    assert (len(context.errant), bodies) == (errant, sent)
    assert all(isinstance(error, DataError) for _, error in context.errant)

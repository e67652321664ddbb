"""What is hidden of records is hidden everywhere, from everybody it is meant for, whatever shape it comes in."""

import gzip
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from console.cluster.records.masked_source import hidden_from
from console.cluster.records.masking import MASK, Masker, MaskingError, hidden_paths, parse_masking
from console.cluster.records.origins import NAMES_MAX, origins_of_streams
from console.ecosystem.connectors.models import TOPICS_KEPT, Connector
from console.ecosystem.mirrors.models import MirroredTopic
from console.kit.access.roles import Right
from console.kit.gateway.records.interface import RecordView
from console.processes.models import ManagedProcess
from console.state.clusters.models import Topic
from console.state.consumers.models import ConsumerGroup

SECRET = "4111-1111"
RULES = """[[rules]]
topics = "pay*"
mask = ["value.card", "value.items.sku", "key", "headers.token"]
"""


def masker(*paths: str) -> Masker:
    rules = parse_masking(f"[[rules]]\ntopics = 't'\nmask = {json.dumps(paths)}")
    return Masker("t", hidden_paths(rules, "t", frozenset()))


def masked(value: bytes | None, *paths: str) -> bytes | None:
    return masker(*paths).masked(RecordView(0, 0, 0, None, value)).value


# -- what is hidden


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        (b'{"card": "4111-1111", "n": 1.10}', "value.card", '{"card": "\u2022\u2022\u2022", "n": 1.10}'),
        (b'{"card": {"no": "4111-1111"}}', "value.card", '{"card": "\u2022\u2022\u2022"}'),
        (b'{"card": null}', "value.card", '{"card": null}'),
        (b'{"other": 1e400}', "value.card", '{"other": 1e400}'),
        (b'{"c": [{"no": "4111-1111"}, {"x": 1}]}', "value.c.no", '{"c": [{"no": "\u2022\u2022\u2022"}, {"x": 1}]}'),
        (b'[{"no": "4111-1111"}]', "value.no", '[{"no": "\u2022\u2022\u2022"}]'),
        (b'{"c": ["4111-1111", 2]}', "value.c[0]", '{"c": ["\u2022\u2022\u2022", 2]}'),
    ],
)
def test_what_a_path_names_is_hidden_and_the_rest_stays_as_it_is_written(value, path, expected):
    assert masked(value, path).decode() == expected


@pytest.mark.parametrize(
    "value",
    [
        b"4111-1111 as text",
        b'{"card": "4111-1111"',
        b'{"card": "4111-1111"} and more',
        b'{"card": {"no": NaN}, "x": "4111-1111"}',
        b"\xff4111-1111",
        b'"4111-1111"',
        b"\xef\xbb\xbf" + b'{"card": "4111-1111"}',
        b'{"a":' * 5_000 + b'"4111-1111"' + b"}" * 5_000,
        b"\0\0\0\0\1" + b"4111-1111",
        json.dumps({"pad": "x" * 300_000, "card": SECRET}).encode(),
    ],
)
def test_what_is_not_understood_is_hidden_whole(value):
    assert SECRET.encode() not in masked(value, "value.card")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (b'{"card": "4111-1111", "card": "2"}', "value.card"),
        (b'{"p": {"card": "4111-1111"}, "p": {}}', "value.p.card"),
        (b'{"p": "4111-1111"}', "value.p.card"),
        (b'{"p": ["4111-1111"]}', "value.p.card"),
        (b'{"p": [["4111-1111"]]}', "value.p.card"),
        (b'["4111-1111"]', "value.card"),
        (b'{"c\\u0061rd": "4111-1111"}', "value.card"),
        (gzip.compress(b'{"card": "4111-1111"}', mtime=0), "value.card"),
        (b'{"x": 1, "card": "4111-1111"}', "value"),
    ],
)
def test_a_secret_in_another_shape_is_hidden_too(value, path):
    result = masked(value, path)
    assert SECRET.encode() not in result
    assert SECRET not in json.dumps(json.loads(result), ensure_ascii=False) if result != MASK.encode() else True


def test_nulls_and_nothing_stay():
    assert masked(None, "value") is None
    assert masked(b"", "value.card") == b""


def test_headers_are_hidden_by_name_however_often_they_stand_there():
    record = RecordView(0, 0, 0, None, None, (("token", b"a"), ("trace", b"b"), ("token", b"c"), ("token", None)))
    assert masker("headers.token").masked(record).headers == (
        ("token", MASK.encode()), ("trace", b"b"), ("token", MASK.encode()), ("token", None),
    )  # fmt: skip
    assert dict(masker("headers").masked(record).headers)["trace"] == MASK.encode()


@given(st.recursive(st.just(SECRET) | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_under_a_path_nothing_is_left_whatever_it_holds(inner):
    value = json.dumps({"card": inner, "open": 1}).encode()
    assert SECRET.encode() not in masked(value, "value.card")
    assert json.loads(masked(value, "value.card"))["open"] == 1


# -- rules


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense", "no TOML"),
        ("x = 1", "x is not known"),
        ("rules = 1", "tables"),
        ("[[rules]]\nmask = ['value']", "topics must be"),
        ("[[rules]]\ntopics = 't'", "mask must be"),
        ("[[rules]]\ntopics = 't'\nmask = []", "mask must be"),
        ("[[rules]]\ntopics = 't'\nmask = ['card']", "is no path"),
        ("[[rules]]\ntopics = 't'\nmask = ['value..a']", "is no path"),
        ("[[rules]]\ntopics = 't'\nmask = ['headers[0]']", "is no path"),
        ("[[rules]]\ntopics = 't'\nmask = [1]", "is no path"),
        ("[[rules]]\ntopics = 't'\nmask = ['value']\nseen_by = 'me'", "seen_by must be"),
        ("[[rules]]\ntopics = 't'\nmask = ['value']\nmasks = 1", "masks is not known"),
    ],
)
def test_rules_that_are_none_are_refused_with_what_to_change(text, reason):
    with pytest.raises(MaskingError, match=reason):
        parse_masking(text)


def test_the_example_is_one():
    example = Path(__file__).parents[4] / "config" / "masking.toml"
    assert len(parse_masking(example.read_text())) == 2


def test_who_has_the_right_sees_all():
    rules = parse_masking(RULES)
    assert {path.text for path in hidden_paths(rules, "payments", frozenset({Right.RECORDS, Right.OPERATE}))} == {
        "value.card", "value.items.sku", "key", "headers.token",
    }  # fmt: skip
    assert hidden_paths(rules, "payments", frozenset({Right.ADMINISTER})) == ()
    assert hidden_paths(rules, "orders", frozenset()) == ()
    nobody = parse_masking("[[rules]]\ntopics = '*'\nmask = ['value']\nseen_by = 'nobody'")
    assert len(hidden_paths(nobody, "x", frozenset(Right))) == 1


# -- pages


@pytest.fixture
def payments(cluster, collect, settings) -> Topic:
    cluster.create_topic("payments", 1, 1)
    value = {"card": SECRET, "items": [{"sku": SECRET}], "amount": 7}
    cluster.produce_record("payments", 0, SECRET.encode(), json.dumps(value).encode(), (("token", SECRET.encode()),))
    cluster.produce_record("payments", 0, SECRET.encode(), b"other", ())
    collect()
    settings.MASKING_FILE.write_text(RULES)
    settings.MASKING_FILE.chmod(0o600)
    return Topic.objects.get(name="payments")


ADDRESSES = [
    "",
    "?shown=string",
    "?shown=hex",
    "?shown=tree&column=value.card",
    "?format=csv&column=value.card",
    "?format=jsonl",
    "?search=7&place=oldest&format=csv",
    "0/0/",
    "0/0/?shown=hex",
    "0/0/?part=key",
    "0/0/?part=value",
    "compare/?left=0:0&right=0:1",
]


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_page_shows_what_is_hidden(payments, reader, client_of, address):
    response = client_of(reader).get(f"/topics/payments/+records/{address}")
    assert response.status_code == 200
    text = body(response)
    assert SECRET.encode() not in text
    assert SECRET[:4].encode().hex(" ").encode() not in text


@pytest.mark.parametrize("address", ["", "0/0/", "?format=jsonl"])
def test_who_may_see_all_sees_all(payments, administrator, client_of, address):
    assert SECRET.encode() in body(client_of(administrator).get(f"/topics/payments/+records/{address}"))


@pytest.mark.parametrize("search", [f"search={SECRET}", f"searched=cel&search=value.card=='{SECRET}'"])
def test_a_search_does_not_tell_what_is_hidden(payments, reader, administrator, client_of, search):
    address = f"/topics/payments/+records/?{search}&place=oldest&format=csv"
    assert len(body(client_of(reader).get(address)).splitlines()) == 1
    assert len(body(client_of(administrator).get(address)).splitlines()) > 1


def test_a_page_says_what_is_hidden(payments, reader, client_of):
    assert "Hidden from you:" in client_of(reader).get("/topics/payments/+records/").content.decode()


@pytest.mark.parametrize("deed", ["+copy", "+tombstone"])
def test_what_is_hidden_is_not_copied(payments, operator, client_of, cluster, deed):
    response = client_of(operator).post(
        f"/topics/payments/+records/0/0/{deed}/", {"to": "payments", "to_partition": ""}
    )
    assert "is hidden from you" in response.content.decode()
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize(("text", "mode"), [("nonsense", 0o600), (RULES, 0o666)])
def test_while_the_rules_cannot_be_used_nobody_reads(payments, administrator, client_of, settings, text, mode):
    settings.MASKING_FILE.write_text(text)
    settings.MASKING_FILE.chmod(mode)
    client = client_of(administrator)
    page = client.get("/topics/payments/+records/").content.decode()
    assert "No record is shown, because the rules of masking.toml cannot be used" in page
    assert SECRET not in page
    assert client.get("/topics/payments/+records/0/0/?part=value").status_code == 503


# -- under another name


@pytest.fixture
def elsewhere(payments, cluster, collect, tmp_path) -> tuple[str, ...]:
    """Topics that hold the records of `payments` as they are: a copy, a copy of it, and dead letters."""
    names = ("west.payments", "east.west.payments", "failed-in-sink", "failed-in-job")
    for name in names:
        cluster.create_topic(name, 1, 1)
        cluster.produce_record(name, 0, b"k", json.dumps({"card": SECRET}).encode(), ())
    collect()
    MirroredTopic.objects.create(flow="west->here", topic="payments", target="west.payments")
    MirroredTopic.objects.create(flow="east->here", topic="west.payments", target="east.west.payments")
    Connector.objects.create(name="sink", kind="sink", topics=["payments"], dead_letters="failed-in-sink")
    properties = {"job": "dedupe", "input.topic": "payments", "dead.letter.topic": "failed-in-job"}
    ManagedProcess.objects.create(
        name="job", kind="stream", spec={"properties": properties, "directory": str(tmp_path)}
    )
    return names


def test_dead_letters_and_copies_hide_what_their_origin_hides(elsewhere, reader, administrator, client_of):
    for name in elsewhere:
        address = f"/topics/{name}/+records/0/0/?part=value"
        assert SECRET.encode() not in body(client_of(reader).get(address)), name
        assert SECRET.encode() in body(client_of(administrator).get(address)), name


@pytest.mark.parametrize(("job", "key"), [("dedupe", "output.topic"), ("quality-filter", "output.topic")])
def test_what_a_stream_job_writes_hides_what_its_input_hides(job, key, elsewhere, reader):
    """It passes records on as they are, or parts of them."""
    properties = {"job": job, "input.topic": "payments", key: "cleaned"}
    ManagedProcess.objects.create(name="clean", kind="stream", spec={"properties": properties, "directory": "/x"})
    assert {stream.name for stream in origins_of_streams("cleaned")} == {"payments"}
    assert [path.text for path in hidden_from(reader, "cleaned")] == [
        path.text for path in hidden_from(reader, "payments")
    ]


def test_dead_letters_of_a_sink_that_reads_a_pattern_hide_what_its_group_has_read(elsewhere, reader, client_of):
    """`topics.regex` names no topic: its consumer group does."""
    Connector.objects.update(topics=[], group="connect-sink")
    ConsumerGroup.objects.create(name="connect-sink", state="Stable", coordinator=1, topics=["payments"])
    address = "/topics/failed-in-sink/+records/0/0/?part=value"
    assert SECRET.encode() not in body(client_of(reader).get(address))


def test_who_sees_all_of_a_copy_alone_does_not_see_what_its_origin_hides(elsewhere, reader, give_rule, client_of):
    rules = RULES.replace("mask =", 'seen_by = "operator"\nmask =')
    settings.MASKING_FILE.write_text(rules)
    give_rule(reader, "operator", "topic", "west.*")
    address = "/topics/west.payments/+records/0/0/?part=value"
    assert SECRET.encode() not in body(client_of(reader).get(address))
    give_rule(reader, "operator", "topic", "payments")
    assert SECRET.encode() in body(client_of(reader).get(address))


def test_what_is_hidden_anywhere_is_hidden_where_a_topic_has_more_origins_than_are_followed(elsewhere, reader):
    """Names that a sink makes up, or a pattern that matches hundreds of topics, do not push `payments` out."""
    Connector.objects.update(topics=[f"a{number}" for number in range(NAMES_MAX - 1)])
    MirroredTopic.objects.create(flow="north->here", topic="payments", target="failed-in-sink")
    assert [path.text for path in hidden_from(reader, "failed-in-sink")] == [
        path.text for path in hidden_from(reader, "payments")
    ]


def test_what_is_hidden_anywhere_is_hidden_in_dead_letters_of_a_sink_whose_topics_are_not_all_kept(elsewhere, reader):
    Connector.objects.update(topics=[f"a{number}" for number in range(TOPICS_KEPT)])
    assert hidden_from(reader, "failed-in-sink")


def test_what_is_hidden_anywhere_is_hidden_of_a_copy_of_a_copy_of_many_more(elsewhere, reader):
    for step in range(10):
        MirroredTopic.objects.create(flow="a->b", topic=f"copy-{step}", target=f"copy-{step + 1}")
    MirroredTopic.objects.create(flow="a->b", topic="payments", target="copy-0")
    assert hidden_from(reader, "copy-10")
    assert not hidden_from(reader, "orders")


def test_a_right_on_some_topics_does_not_show_what_is_hidden_of_any(elsewhere, reader, give_rule):
    settings.MASKING_FILE.write_text(RULES.replace("mask =", 'seen_by = "operator"\nmask ='))
    Connector.objects.update(topics=[f"a{number}" for number in range(NAMES_MAX)])
    give_rule(reader, "operator", "topic", "*")
    assert not hidden_from(reader, "failed-in-sink")
    give_rule(reader, "nothing", "topic", "payments")
    assert hidden_from(User.objects.get(pk=reader.pk), "failed-in-sink")

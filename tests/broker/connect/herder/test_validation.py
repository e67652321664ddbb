"""What is wrong with transforms and predicates is told by their own keys, before a connector is there."""

import json
import re

import pytest

from broker.connect.herder.errors import BadRequest
from broker.connect.herder.validation import require_valid, validate
from broker.connect.settings import STANDALONE, read_settings

SETTINGS = read_settings(
    {"key.converter": "JsonConverter", "value.converter": "JsonConverter", "offset.storage.file.filename": "/x"},
    STANDALONE,
)
SOURCE = {"name": "s", "connector.class": "FileStreamSource", "topic": "t"}
RIGHT = {
    "transforms": "mark,out", "transforms.mark.type": "InsertField$Value", "transforms.mark.static.field": "f",
    "transforms.mark.static.value": "v", "transforms.out.type": "Filter", "transforms.out.predicate": "gone",
    "transforms.out.negate": "true", "predicates": "gone", "predicates.gone.type": "RecordIsTombstone",
}  # fmt: skip


def wrong(**more):
    infos = validate(SOURCE | RIGHT | {key.replace("_", "."): value for key, value in more.items()}, SETTINGS)
    return {
        config["value"]["name"]: config["value"]["errors"] for config in infos["configs"] if config["value"]["errors"]
    }


def test_what_is_right_is_declared_by_alias():
    infos = validate(SOURCE | RIGHT, SETTINGS)
    assert infos["error_count"] == 0
    assert {"Transforms: mark", "Transforms: out", "Predicates: gone"} <= set(infos["groups"])
    shown = {config["value"]["name"]: config for config in infos["configs"]}
    assert shown["transforms.mark.static.field"]["value"]["value"] == "f"
    assert shown["transforms.mark.static.field"]["definition"]["group"] == "Transforms: mark"
    assert shown["transforms.out.negate"]["definition"]["type"] == "BOOLEAN"


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"transforms_mark_type": "Nothing"}, "transforms.mark.type"),
        ({"transforms": "mark,out,other"}, "transforms.other.type"),
        ({"transforms": "mark,mark,out"}, "transforms"),
        ({"transforms_out_predicate": "none"}, "transforms.out.predicate"),
        ({"transforms_out_negate": "perhaps"}, "transforms.out.negate"),
        ({"predicates_gone_type": "TopicNameMatches"}, "predicates.gone.pattern"),
        ({"predicates_gone_type": "TopicNameMatches", "predicates_gone_pattern": "("}, "predicates.gone.pattern"),
        ({"transforms_out_type": "Cast$Value", "transforms_out_spec": "a:int7"}, "transforms.out.spec"),
        ({"transforms_out_type": "RegexRouter", "transforms_out_regex": "a"}, "transforms.out.replacement"),
        ({"transforms_out_type": "TimestampConverter$Value", "transforms_out_target_type": "Moment"},
         "transforms.out.target.type"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_by_its_key(more, key):
    assert list(wrong(**more)) == [key]
    config = SOURCE | RIGHT | {name.replace("_", "."): value for name, value in more.items()}
    with pytest.raises(BadRequest, match="contains the following 1 error"):
        require_valid(config, SETTINGS)


SINK = {"name": "s", "connector.class": "FileStreamSink"}


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({}, "topics topics.regex"),
        ({"topics": " , "}, "topics topics.regex"),
        ({"topics": "a", "topics.regex": "b"}, "topics topics.regex"),
        ({"topics": "a, dead", "errors.deadletterqueue.topic.name": "dead"}, "topics"),
        ({"topics.regex": "(["}, "topics.regex"),
        ({"topics.regex": r"\X"}, "topics.regex"),
        ({"topics.regex": "d.*", "errors.deadletterqueue.topic.name": "dead"}, "topics.regex"),
        ({"topics": "a", "header.converter": "Nothing"}, "header.converter"),
        ({"topics": "a", "header.converter": "FileStreamSink"}, "header.converter"),
        ({"topics": "a", "tasks.max.enforce": "perhaps"}, "tasks.max.enforce"),
    ],
)
def test_what_a_sink_cannot_read_is_told_by_its_key(more, key):
    infos = validate(SINK | more, SETTINGS)
    assert [config["value"]["name"] for config in infos["configs"] if config["value"]["errors"]] == key.split()


def test_dead_letters_beside_what_is_read_are_right():
    for topics in ({"topics": "a"}, {"topics.regex": "a.*"}):
        assert validate(SINK | topics | {"errors.deadletterqueue.topic.name": "dead"}, SETTINGS)["error_count"] == 0


SECRET = "s3cret, t0oo"


@pytest.fixture
def refer(tmp_path):
    """refer(text): the configuration of a worker, and a reference to a file's key that stands for the text."""

    def make(text: str):
        (tmp_path / "kept.properties").write_text(f"key={text}\n")
        providers = {"config.providers": "file", "config.providers.file.class": "FileConfigProvider"}
        return read_settings(SETTINGS.props | providers, STANDALONE), f"${{file:{tmp_path}/kept.properties:key}}"

    return make


@pytest.mark.parametrize(
    "key",
    [
        "connector.class", "tasks.max", "key.converter", "transforms", "transforms.mark.type", "predicates.gone.type",
        "errors.tolerance", "transforms.out.negate", "producer.override.acks", "topic.creation.default.partitions",
    ],
)  # fmt: skip
@pytest.mark.parametrize("around", ["{}", "before {} behind"])
def test_no_error_quotes_what_a_reference_stands_for(key, around, refer):
    settings, reference = refer(SECRET)
    config = SOURCE | RIGHT | {key: around.format(reference)}
    with pytest.raises(BadRequest) as refusal:
        require_valid(config, settings)
    assert not {"s3cret", "t0oo"} & set(re.findall(r"\w+", str(refusal.value)))
    if key != "connector.class":
        assert not {"s3cret", "t0oo"} & set(re.findall(r"\w+", json.dumps(validate(config, settings))))


@pytest.mark.parametrize("guess", ["s3cret", "t0oo", "s3cre", "wrong", "s3cret, t0oo"])
def test_what_is_told_of_a_guess_does_not_depend_on_it(guess, refer):
    """Whoever may validate would read a secret by guesses that a redacted error tells apart."""
    answers = []
    for kept in (SECRET, "another, value"):
        settings, reference = refer(kept)
        config = SOURCE | RIGHT | {"tasks.max": f"{guess} 1 2 3", "errors.tolerance": f"{guess}{reference}"}
        answers.append(validate(config | {"predicates": reference, f"predicates.{guess}.type": "x"}, settings))
    assert answers[0] == answers[1]


def test_errors_that_have_nothing_to_do_with_a_reference_are_told_in_full(refer):
    settings, reference = refer("hello")
    wrong_config = SOURCE | RIGHT | {"tasks.max": "many", "topic": reference}
    errors = [error for config in validate(wrong_config, settings)["configs"] for error in config["value"]["errors"]]
    assert errors == [error for error in errors if "many" in error]
    assert len(errors) == 1


def test_an_error_names_the_reference_that_is_wrong(refer):
    settings, reference = refer(SECRET)
    with pytest.raises(BadRequest, match=re.escape(reference)):
        require_valid(SOURCE | {"tasks.max": reference}, settings)


def test_a_class_that_is_a_reference_is_shown_as_one(refer):
    settings, reference = refer("FileStreamSource")
    assert validate(SOURCE | {"connector.class": reference}, settings)["name"] == reference


@pytest.mark.parametrize("what", ["transforms", "predicates"])
def test_very_many_aliases_are_refused_before_the_keys_of_each_are_declared(what):
    """A thousand took five seconds, and a body has room for a hundred thousand."""
    for count in (100, 101):
        infos = validate(SOURCE | {what: ",".join(f"a{number}" for number in range(count))}, SETTINGS)
        errors = {info["value"]["name"]: info["value"]["errors"] for info in infos["configs"]}
        assert (f"{what}.a1.type" in errors) is (count == 100)
    assert errors[what] == [f"{what} names more than 100 aliases: use fewer."]

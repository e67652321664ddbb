import pytest

from broker.connect.api import ConfigDef, ConfigError, ConfigKey, ConfigType, Password
from broker.connect.api.config import OneOf, between

DEF = ConfigDef(
    ConfigKey("file"),
    ConfigKey("batch.size", ConfigType.INT, 2000, validator=between(1, 5000)),
    ConfigKey("topics", ConfigType.LIST, []),
    ConfigKey("secret", ConfigType.PASSWORD, None),
    ConfigKey("mode", default="bulk", validator=OneOf("bulk", "query"), recommender=OneOf("bulk", "query")),
    ConfigKey("on", ConfigType.BOOLEAN, False),
)


def test_values_are_parsed_by_type_and_defaults_fill_the_rest():
    parsed = DEF.parse({"file": " a ", "topics": "a, b", "secret": "x", "on": "TRUE", "unknown": "1"})
    assert parsed == {
        "file": "a",
        "batch.size": 2000,
        "topics": ["a", "b"],
        "secret": Password("x"),
        "mode": "bulk",
        "on": True,
    }


@pytest.mark.parametrize(
    ("props", "key"),
    [
        ({}, "file"),
        ({"file": None}, "file"),
        ({"file": "a", "batch.size": "many"}, "batch.size"),
        ({"file": "a", "batch.size": "0"}, "batch.size"),
        ({"file": "a", "batch.size": str(1 << 31)}, "batch.size"),
        ({"file": "a", "on": "yes"}, "on"),
        ({"file": "a", "mode": "odd"}, "mode"),
    ],
)
def test_what_is_wrong_names_its_key_in_parse_and_in_validate(props, key):
    with pytest.raises(ConfigError) as raised:
        DEF.parse(props)
    assert raised.value.name == key
    assert [property_.name for property_ in DEF.validate(props) if property_.errors] == [key]


def test_validation_recommends_values_and_never_raises():
    by_name = {item.name: item for item in DEF.validate({})}
    assert by_name["mode"].recommended_values == ["bulk", "query"]
    assert by_name["mode"].value == "bulk"
    assert by_name["file"].value is None


def test_a_password_is_not_told():
    assert "x1" not in repr(Password("x1"))
    assert "x1" not in str(Password("x1"))

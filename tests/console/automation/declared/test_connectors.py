"""Connectors in files: made, configured and deleted, and no secret anywhere."""

import pytest

from console.ecosystem.connectors.masking import MASK
from tests.console.ecosystem.connectors.lying_server import connector

CLASS = "org.example.FileSourceConnector"


def text_of(**config: str) -> str:
    lines = "".join(f"      {key.replace('__', '.')}: '{value}'\n" for key, value in config.items())
    return f"connectors:\n  in:\n    config:\n      connector.class: {CLASS}\n{lines}"


def test_one_is_created_as_declared(files, administrator, cluster, connect):
    made = files(administrator, text_of(file="/x"))
    shown = made.compare()
    assert [part.plan.action for part in shown.context["made"].parts] == ["create connector"]
    assert made.apply(shown).status_code == 302
    ((_, _, sent),) = connect.changes()
    assert sent == {"name": "in", "config": {"name": "in", "connector.class": CLASS, "file": "/x"}}


def test_what_is_there_already_is_no_change(files, administrator, cluster, connect):
    connect.connectors["in"] = connector("in", file="/x")
    assert files(administrator, text_of(file="/x")).compare().context["plan"].is_empty


def test_all_of_the_configuration_is_declared(files, administrator, cluster, connect):
    connect.connectors["in"] = connector("in", file="/x", more="1")
    shown = files(administrator, text_of(file="/y")).compare()
    (part,) = shown.context["made"].parts
    assert [(line.name, line.old, line.new) for line in part.plan.lines] == [("file", "/x", "/y"), ("more", "1", None)]


def test_a_masked_secret_stays_and_a_reference_is_one(files, administrator, cluster, connect):
    connect.connectors["in"] = connector("in", **{"db.password": "hunter2"})
    assert files(administrator, text_of(db__password=MASK)).compare().context["plan"].is_empty
    shown = files(administrator, text_of(db__password="${file:/run/secrets:db}")).compare()
    assert [line.new for line in shown.context["plan"].lines] == ["${file:/run/secrets:db}"]
    assert "hunter2" not in shown.content.decode()


@pytest.mark.parametrize("key", ["db__password", "db__phrase"])
def test_a_secret_in_a_file_is_refused(files, administrator, cluster, connect, key):
    """By its name, and by what the plugin declares."""
    shown = files(administrator, text_of(**{key: "hunter2"})).compare()
    assert "A file has no secret in it" in shown.context["plan"].obstacle
    assert "hunter2" not in shown.context["plan"].obstacle
    assert not shown.context["made"].parts


def test_what_connect_finds_wrong_is_said(files, administrator, cluster, connect):
    path = "/connector-plugins/FileSourceConnector/config/validate"
    wrong = {"definition": {"name": "file"}, "value": {"name": "file", "errors": ["There is no such file."]}}
    connect.answers["PUT", path] = (200, {"error_count": 1, "configs": [wrong]})
    shown = files(administrator, text_of(file="/x")).compare()
    assert "There is no such file." in shown.context["plan"].obstacle


def test_who_does_not_administer_may_only_compare(files, operator, cluster, connect):
    connect.connectors["in"] = connector("in", file="/x")
    shown = files(operator, text_of(file="/y")).compare()
    assert [line.new for line in shown.context["plan"].lines] == ["/y"]
    assert "needs the role admin" in shown.context["plan"].obstacle
    assert not [path for _, path, _ in connect.requests if "validate" in path]


def test_one_that_is_to_be_absent_goes_first_and_with_its_name(files, administrator, cluster, connect, collect):
    collect()
    connect.connectors["in"] = connector("in", file="/x")
    gone = files(administrator, "connectors: {in: {absent: true}}\ntopics: {a: {partitions: 1, replication_factor: 1}}")
    shown = gone.compare()
    assert [part.plan.action for part in shown.context["made"].parts] == ["delete connector", "create topic"]
    assert shown.context["plan"].typed_name == "in"
    assert gone.apply(shown).status_code == 302
    assert [change[:2] for change in connect.changes()] == [("DELETE", "/connectors/in")]


def test_a_connect_that_does_not_answer_is_said(files, administrator, cluster, connect, collect):
    collect()
    connect.answers["GET", "/connectors"] = (500, {"message": "away"})
    shown = files(administrator, text_of(file="/x")).compare()
    assert shown.status_code == 200
    assert "connectors" in shown.context["plan"].obstacle

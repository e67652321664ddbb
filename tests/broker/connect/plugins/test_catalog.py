import pytest

from broker.connect.api import ConnectError
from broker.connect.herder.validation import connector_class
from broker.connect.plugins import LoadError, Plugin, PluginKind, catalog, lookup, plugins, task_name
from broker.connect.plugins.built_in import BUILT_IN


def test_every_built_in_plugin_can_be_imported():
    assert {plugin.name for plugin, _, _ in plugins()} >= set(BUILT_IN)


@pytest.mark.parametrize("name", ["org.apache.kafka.connect.file.FileStreamSourceConnector", "FileStreamSource"])
def test_a_connector_is_found_by_its_whole_name_and_without_its_kind(name):
    assert lookup(name, PluginKind.SOURCE).__name__ == "FileStreamSourceConnector"


@pytest.mark.parametrize("name", ["String", "ByteArray", "Boolean", "Short", "Integer", "Long", "Float", "Double"])
def test_converters_of_values_convert_headers_as_well(name):
    package = "storage" if name == "String" else "converters"
    whole = f" org.apache.kafka.connect.{package}.{name}Converter "
    converter = lookup(whole, PluginKind.HEADER_CONVERTER)()
    converter.configure({})
    assert converter.to_connect_header("t", "h", None)[1] is None
    assert lookup(whole, PluginKind.CONVERTER) is type(converter)


def test_variants_are_found_by_javas_names():
    assert lookup("org.apache.kafka.connect.transforms.InsertField$Value", "transformation").SIDE == "value"
    assert lookup("InsertField$Key", "transformation").SIDE == "key"


@pytest.mark.parametrize(("name", "kind"), [("Nothing", PluginKind.SINK), ("FileStreamSource", PluginKind.SINK)])
def test_what_is_not_there_or_of_another_kind_is_refused(name, kind):
    with pytest.raises(ConnectError, match=name):
        lookup(name, kind)


def test_every_key_of_every_plugin_is_documented():
    for plugin, cls, _ in plugins():
        for key in cls.CONFIG.keys.values():
            assert key.documentation, f"{plugin.name}: {key.name}"


def test_tasks_are_called_as_kafkas_workers_call_theirs_where_kafka_has_them():
    sink = lookup("FileStreamSink", PluginKind.SINK)
    assert task_name(sink) == "org.apache.kafka.connect.file.FileStreamSinkTask"
    assert task_name(lookup("SqlSink", PluginKind.SINK)) == "broker.connect.plugins.sql.sink.SqlSinkTask"


@pytest.mark.parametrize(
    ("code", "why"), [("raise RuntimeError('no driver')", "RuntimeError: no driver"), ("exit(9)", "SystemExit: 9")]
)
def test_a_plugin_whose_code_cannot_be_had_says_why_and_hides_no_other(tmp_path, monkeypatch, code, why):
    name = f"spoiled_{why.partition(':')[0].lower()}"
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(catalog, "_entry_points", lambda: (Plugin("Spoiled", f"{name}:Source"),))
    assert {plugin.name for plugin, _, _ in plugins()} == set(BUILT_IN)
    with pytest.raises(LoadError, match=f"Spoiled from {name}:Source: {why}"):
        connector_class({"connector.class": "Spoiled"})

"""Make the tables of the reference anew from the code: `python -m tests.documentation.reference`.

A page has its tables between two comments, `<!-- made by tests.documentation.reference: NAME -->` and `<!-- end -->`;
all else on it is written by hand. `tests/tidy/test_reference.py` says which page is stale.
"""

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from broker.barnabas import BROKER_COMMANDS, CONSOLE_COMMANDS
from broker.cli.commands import load_all
from broker.config import broker as broker_keys
from broker.config import topic as topic_keys
from broker.config.definition import Key, UpdateMode
from broker.config.dynamic import update_mode
from broker.config.listener_settings import BY_NAME as LISTENER_KEYS
from broker.connect.api import ConfigKey
from broker.connect.plugins.built_in import BUILT_IN
from broker.connect.plugins.catalog import Plugin
from broker.connect.plugins.compatible.connectors import CONNECTORS as CONNECTORS_OF_OTHERS
from broker.connect.plugins.compatible.setting import ForeignConnector, ForeignSetting
from console import features
from console.cluster.charts.measures import KINDS, MEASURES
from console.kit.common.variables import GROUPS, VariableGroup
from console.kit.features.order import in_order
from console.kit.features.tables import load_features
from tests.documentation.markdown import slug
from tests.documentation.metrics import MetricLine, metrics
from tests.tidy.sources import ROOT

_PART = re.compile(r"(<!-- made by tests\.documentation\.reference: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
#: In the path of a request, before the name of a parameter.
_CONVERTER = re.compile(r"{\w+:")
_KIND_TITLES = {
    "cluster": "The cluster",
    "topic": "Topics",
    "broker": "Brokers",
    "group": "Consumer groups",
    "api": "Requests, by broker and API (`1/PRODUCE`)",
    "zookeeper": "ZooKeeper servers",
    "process": "Processes",
    "stream": "Stream jobs",
    "connector": "Connectors",
    "mirror": "Mirrors",
    "delivery": "Delivery of topics, by the message audit",
}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [" | ".join(heads), " | ".join(["---"] * len(heads))]
    lines += [" | ".join(_cell(cell) for cell in row) for row in rows]
    return [f"| {line} |" for line in lines]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|") or " "


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


# -- environment variables


def settings() -> list[str]:
    return [line for group in GROUPS[:-2] for line in [f"## {group.title}", "", *_variables(group), ""]]


def _variables(group: VariableGroup) -> list[str]:
    rows = ([_code(variable.name), variable.default, variable.meaning] for variable in group.variables)
    return table(("variable", "default", "meaning"), rows)


def _in_operating(group: VariableGroup) -> list[str]:
    return [line.replace("(../operating/", "(") for line in _variables(group)]


# -- configuration of brokers and topics


def broker_configuration() -> list[str]:
    of_listeners = [key for key in broker_keys.KEYS if key.name in LISTENER_KEYS]
    others = [key for key in broker_keys.KEYS if key not in of_listeners]
    return [
        *_configuration("Of the broker", others, has_modes=True),
        *_configuration("Of listeners", of_listeners, has_modes=True),
        *_without_effect(broker_keys.KEYS),
    ]


def topic_configuration() -> list[str]:
    return [*_configuration("Keys", topic_keys.KEYS, has_modes=False), *_without_effect(topic_keys.KEYS)]


def _configuration(title: str, keys: Iterable[Key], *, has_modes: bool) -> list[str]:
    rows = [
        [_code(key.name), _default(key), _accepts(key), *([_mode(key)] if has_modes else []), key.meaning]
        for key in sorted(keys, key=lambda key: key.name)
        if key.has_effect
    ]
    heads = ("key", "default", "accepts", *(("changes",) if has_modes else ()), "meaning")
    return [f"## {title}", "", *table(heads, rows), ""]


def _without_effect(keys: Iterable[Key]) -> list[str]:
    names = sorted(key.name for key in keys if not key.has_effect)
    return ["## Accepted without effect", "", *(f"- `{name}`" for name in names), ""]


def _default(key: Key) -> str:
    if key.is_required:
        return "must be set"
    return "none" if key.default_text is None else _code(key.default_text) or "empty"


def _accepts(key: Key) -> str:
    if key.choices:
        return ", ".join(map(_code, filter(None, key.choices)))
    bounds = [
        f"{words} {bound:g}" for words, bound in (("from", key.at_least), ("to", key.at_most)) if bound is not None
    ]
    return " ".join([key.config_type.name.lower(), *bounds])


def _mode(key: Key) -> str:
    words = {UpdateMode.READ_ONLY: "at a restart", UpdateMode.PER_BROKER: "for one broker"}
    return words.get(update_mode(key.name), "while running")


# -- metrics, limits, measures


def metric_tables() -> list[str]:
    pages = {"broker/server/": "Brokers", "broker/probe/": "The probe", "console/signals/": "The console"}
    pages["console/shell/api/"] = "With a token: `/api/v1/metrics`"
    result = metrics()
    lines = []
    for prefix, title in pages.items():
        own = [line for path, listed in result.items() if path.startswith(prefix) for line in listed]
        lines += [f"## {title}", "", *table(("metric", "type", "labels", "meaning"), map(_metric_row, sorted(own))), ""]
    if missing := [path for path in result if not path.startswith(tuple(pages))]:
        raise ValueError(f"metrics of {missing} belong to no part of docs/reference/metrics.md")
    return lines


def _metric_row(line: MetricLine) -> list[str]:
    return [_code(line.name), line.kind, ", ".join(map(_code, line.labels)), line.meaning]


def limits() -> list[str]:
    lines = []
    titles = {
        "limits": "Requests, logs, groups and the console",
        "security_limits": "Security",
        "telemetry_limits": "Client metrics",
    }
    for name, title in titles.items():
        lines += [f"## {title}", "", *table(("limit", "value", "reason"), _limits_of(f"broker/common/{name}.py")), ""]
    return lines


def _limits_of(path: str) -> Iterator[list[str]]:
    """Yield name, value and the `#:` comment above each constant; one without a comment goes on with the one before."""
    text = (ROOT / path).read_text()
    values = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    lines = text.splitlines()
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if not isinstance(target, ast.Name) or not target.id.isupper() or target.id.startswith("_"):
            continue
        comments, at = [], node.lineno - 2
        while at >= 0 and lines[at].startswith("#"):
            comments.insert(0, lines[at].lstrip("#: "))
            at -= 1
        yield [_code(target.id), _amount(target.id, getattr(values, target.id)), " ".join(comments)]


def _amount(name: str, value: object) -> str:
    """A number with the unit that the name ends with, as a person reads it."""
    if isinstance(value, int) and "BYTES" in name and value >= 1024 and value % 1024 == 0:
        return next(
            f"{value // size:,} {unit}"
            for size, unit in ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))
            if value % size == 0
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _code(str(value))
    unit = next(
        (f" {unit}" for end, unit in (("_MS", "ms"), ("_S", "s"), ("_BYTES", "bytes")) if _is_unit(name, end)), ""
    )
    return f"{value:,}{unit}"


def _is_unit(name: str, end: str) -> bool:
    return name.endswith(end) or f"{end}_M" in name


def alert_measures() -> list[str]:
    lines: list[str] = []
    for kind, names in KINDS.items():
        rows = ([_code(f"{kind}.{name}"), f"the object {MEASURES[name].says.format('…')}"] for name in names)
        lines += [f"## {_KIND_TITLES[kind]}", "", *table(("measure", "what the alert says"), rows), ""]
    return lines


# -- Connect


def connectors() -> list[str]:
    """Tables of the connectors' own keys, in the order of `GET /connector-plugins`."""
    lines: list[str] = []
    for plugin in _plugins("Connector"):
        keys = plugin.load().CONFIG.keys.values()
        rows = ([_code(key.name), _default_of(key), _type_of(key), key.documentation] for key in keys)
        lines += [f"## {plugin.name.rsplit('.', 1)[-1]}", "", _code(plugin.name), "", _summary(plugin), ""]
        lines += [*table(("key", "default", "accepts", "meaning"), rows), ""]
    return lines


def other_plugins() -> list[str]:
    named = {name: plugin for plugin in _plugins("") if not (name := plugin.name.split("$")[0]).endswith("Connector")}
    rows = (
        [_code(name), ", ".join(_code(key) for key in getattr(getattr(plugin.load(), "CONFIG", None), "keys", ()))]
        for name, plugin in named.items()
    )
    return table(("plugin", "keys of its own"), rows)


def connectors_of_others() -> list[str]:
    """Tables of other products' classes and what becomes of their settings, once for those that share them."""
    classes: dict[str, list[str]] = {}
    settings_of: dict[str, ForeignConnector] = {}
    for name, connector in CONNECTORS_OF_OTHERS.items():
        key = f"{connector.ours} {id(connector.settings)}"
        settings_of[key] = connector
        classes.setdefault(key, []).append(name)
    lines: list[str] = []
    for key, connector in settings_of.items():
        lines += [f"## {next(name for name in classes[key] if '.' in name)}", ""]
        lines += [f"Runs as {_code(connector.ours)}. Names: {', '.join(map(_code, classes[key]))}.", ""]
        rows = ([_code(name), _fate_of(name, setting)] for name, setting in connector.settings.items())
        lines += [*table(("setting", "here"), rows), ""]
    return lines


def _fate_of(name: str, setting: ForeignSetting) -> str:
    advice = f"; {setting.advice}" if setting.advice else ""
    if setting.ours and setting.values is None:
        return "the same" if setting.ours == name else _code(setting.ours)
    pairs = (setting.values or {}).items()
    values = ", ".join(f"{_code(theirs)} is {_code(ours)}" if ours else _code(theirs) for theirs, ours in pairs)
    if setting.ours:
        return f"{_code(setting.ours)}: {values}{advice}"
    if setting.values is None:
        return f"refused: {setting.advice}"
    return "accepted" if "*" in setting.values else f"only {values}{advice}"


def _plugins(end: str) -> list[Plugin]:
    return [Plugin(name, place) for name, place in BUILT_IN.items() if name.endswith(end)]


def _summary(plugin: Plugin) -> str:
    return (plugin.load().__doc__ or "").strip().split("\n\n")[0]


def _default_of(key: ConfigKey) -> str:
    if key.is_required:
        return "must be set"
    value = key.default
    text = str(value).lower() if isinstance(value, bool) else ",".join(value) if isinstance(value, list) else str(value)
    return "none" if value in (None, "", []) else _code(text)


def _type_of(key: ConfigKey) -> str:
    choices = getattr(key.validator, "values", ())
    return ", ".join(map(_code, choices)) or key.type.name.lower()


# -- commands and the HTTP API


def own_commands() -> list[str]:
    rows = ([_code(f"barnabas {name}"), meaning] for name, meaning in {**CONSOLE_COMMANDS, **BROKER_COMMANDS}.items())
    return table(("command", "what it does"), rows)


def kafka_commands() -> list[str]:
    page = "../../broker/cli/COMMANDS.md"
    rows = ([f"[{command.name}]({page}#{slug(command.name)})", command.summary] for command in load_all())
    return table(("command", "what it does"), rows)


def api_reads() -> list[str]:
    reads = in_order(feature.reads for feature in load_features(features.PACKAGES))
    rows = ([_code(f"GET {_CONVERTER.sub('{', read.path)}"), read.scope, read.summary] for read in reads)
    return table(("request", "scope", "what it answers"), rows)


def api_actions() -> list[str]:
    actions = in_order(feature.actions for feature in load_features(features.PACKAGES))
    rows = (
        [
            _code(action.name),
            ", ".join(map(_code, action.parameters)),
            action.summary,
            "no" if action.is_at_once else "yes",
        ]
        for action in actions
    )
    return table(("action", "parameters", "what it changes", "plan"), rows)


PARTS: dict[str, Callable[[], list[str]]] = {
    "settings": settings,
    "single-sign-on": lambda: _in_operating(GROUPS[-2]),
    "directory": lambda: _in_operating(GROUPS[-1]),
    "broker-configuration": broker_configuration,
    "topic-configuration": topic_configuration,
    "metrics": metric_tables,
    "limits": limits,
    "alert-measures": alert_measures,
    "connectors": connectors,
    "other-plugins": other_plugins,
    "connectors-of-others": connectors_of_others,
    "own-commands": own_commands,
    "kafka-commands": kafka_commands,
    "api-reads": api_reads,
    "api-actions": api_actions,
}


def made_anew(text: str) -> str:
    """Return the text of a page with its tables made of the code as it is now."""
    return _PART.sub(lambda part: f"{part[1]}\n{chr(10).join(PARTS[part[2]]()).rstrip()}\n\n{part[4]}", text)


def without_parts(text: str) -> str:
    """Return what is written by hand."""
    return _PART.sub("", text)


def parts_in(text: str) -> list[str]:
    return [match[2] for match in _PART.finditer(text)]


def pages() -> list[Path]:
    return [path for path in sorted((ROOT / "docs").rglob("*.md")) if parts_in(path.read_text())]


def main() -> int:
    for path in pages():
        text = path.read_text()
        if (anew := made_anew(text)) != text:
            path.write_text(anew)
            print(f"{path.relative_to(ROOT)} is made anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())

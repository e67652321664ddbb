"""Whatever a feature of the console declares is there, and whatever is there is declared."""

import re
import tomllib
from collections import Counter
from importlib import import_module
from inspect import isfunction

import pytest
from django.conf import settings
from django.urls import URLPattern, get_resolver
from django.utils.module_loading import import_string

from console.features import PACKAGES
from console.kit.common.hook_point import HookPoint
from console.kit.features.listed import features
from console.kit.live import groups
from console.kit.live.person_socket import PersonSocket
from tests.tidy.sources import ROOT

FEATURES = features()
#: What makes a package a feature: routes, rows, commands for Django, or a schedule.
SIGNS = ("urls.py", "models.py", "apps.py", "schedule.py", "migrations")
KINDS = ("links", "places", "commands", "tabs", "verbs", "reads", "actions")
MODULES = [path.relative_to(ROOT) for path in sorted((ROOT / "console").rglob("*.py"))]


def _routes(patterns=None) -> set[str]:
    collected = set()
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        collected |= {pattern.name} if isinstance(pattern, URLPattern) else _routes(pattern.url_patterns)
    return collected


def _declared_routes() -> dict[str, str]:
    """Each route that a declaration names, with the package that names it."""
    named = {}
    for feature in FEATURES:
        entries = [entry for kind in KINDS for entry in getattr(feature, kind)]
        routes = [getattr(entry, "page", "") or entry.route for entry in entries]
        routes += [action.route for action in feature.actions]
        routes += [route for forms in feature.forms for route in (forms.page, *forms.routes)]
        routes += [header.list_route for header in feature.headers]
        named |= dict.fromkeys([*routes, *feature.always_open], feature.package)
    return named


def test_every_feature_of_the_console_is_in_the_list():
    packages = {sign.parent for name in SIGNS for sign in (ROOT / "console").rglob(name)} - {ROOT / "console"}
    assert {".".join(package.relative_to(ROOT).parts) for package in packages} <= set(PACKAGES)
    declared = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "console").rglob("feature.py")}
    assert declared == set(PACKAGES)
    assert len(PACKAGES) == len(declared)


def test_every_route_that_is_declared_is_there():
    routes = _routes()
    assert {route: package for route, package in _declared_routes().items() if route not in routes} == {}


@pytest.mark.parametrize("feature", FEATURES, ids=PACKAGES)
def test_every_module_and_template_that_is_declared_is_there(feature):
    for addresses in feature.addresses:
        assert import_module(addresses.module).urlpatterns
    for library in feature.template_libraries:
        assert import_module(f"{feature.package}.templatetags.{library}").register
    for kind in feature.row_kinds:
        assert callable(import_string(kind.renderer))
    for socket in feature.sockets:
        assert issubclass(import_string(socket.consumer), PersonSocket)
    for tier in feature.tiers:
        assert tier.interval_s > 0
        assert callable(import_string(tier.make))
    for hook in feature.hooks:
        assert callable(import_string(hook.function))
        assert isinstance(import_string(hook.point), HookPoint)
    for mark in feature.marks:
        assert callable(import_string(mark.count))
    for header in feature.headers:
        assert callable(import_string(header.facts))


@pytest.mark.parametrize("kind", [*KINDS, "pushed_pages", "row_kinds", "tiers", "tables", "headers"])
def test_no_name_is_declared_twice(kind):
    names = [getattr(entry, "key", None) or entry.name for feature in FEATURES for entry in getattr(feature, kind)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_is_listed_behind_one_that_is_there(kind):
    entries = [entry for feature in FEATURES for entry in getattr(feature, kind)]
    assert {entry.after for entry in entries} - {entry.key for entry in entries} <= {""}


def test_a_feature_declares_only_functions_of_its_own():
    """Of what is registered by a dotted name; a name of another feature would stay when its own feature is left out."""
    dotted = {
        name: feature.package
        for feature in FEATURES
        for name in (
            *(hook.function for hook in feature.hooks),
            *(tier.make for tier in feature.tiers),
            *(socket.consumer for socket in feature.sockets),
            *(kind.renderer for kind in feature.row_kinds),
            *(header.facts for header in feature.headers),
            *(addresses.module for addresses in feature.addresses),
        )
    }
    assert {name: package for name, package in dotted.items() if not name.startswith(f"{package}.")} == {}


def test_every_tab_and_every_button_has_a_header_that_shows_it():
    headers = [header for feature in FEATURES for header in feature.headers]
    assert {tab.of for feature in FEATURES for tab in feature.tabs if tab.shown} <= {header.name for header in headers}
    assert {verb.of for feature in FEATURES for verb in feature.verbs if verb.button} <= {
        header.of for header in headers
    }


def test_every_hook_point_has_its_own_name_and_a_hook():
    points = {}
    for path in MODULES:
        for name in re.findall(r"^(\w+) = HookPoint\[", (ROOT / path).read_text(), re.MULTILINE):
            dotted = f"{'.'.join(path.with_suffix('').parts)}.{name}"
            points[dotted] = import_string(dotted).name
    assert {dotted: name for dotted, name in points.items() if dotted != name} == {}
    assert points.keys() == settings.HOOKS.keys()


def test_no_table_of_the_console_is_filled_by_another_module():
    """A feature declares what it adds elsewhere; Django's `ready` only connects Django's own signals, and Celery."""
    empty = re.compile(r"^([A-Z_]+\b[^=\n]*) = (\{\}|\[\]|set\(\)|dict\(\)|list\(\))$", re.MULTILINE)
    assert {str(path): names for path in MODULES if (names := empty.findall((ROOT / path).read_text()))} == {}
    assert {str(path) for path in MODULES if path.name == "apps.py"} == {
        "console/apps.py",
        "console/kit/access/apps.py",
    }


def test_every_factory_of_a_tier_and_every_websocket_is_declared():
    """A function that returns a `TierLook` makes a tier, and a class below `PersonSocket` is a websocket."""
    text = {path: (ROOT / path).read_text() for path in MODULES}
    made = {
        f"{'.'.join(path.with_suffix('').parts)}.{name}"
        for path in MODULES
        for name in re.findall(r"^def (\w+)\(.*\) -> TierLook:", text[path], re.MULTILINE)
    }
    assert made == {tier.make for feature in FEATURES for tier in feature.tiers}
    sockets = {
        f"{'.'.join(path.with_suffix('').parts)}.{name}"
        for path in MODULES
        for name in re.findall(r"^class (\w+)\(\w+(?:Socket|Consumer)\):", text[path], re.MULTILINE)
    }
    declared = {socket.consumer for feature in FEATURES for socket in feature.sockets}
    assert sockets - {"console.kit.live.person_socket.PersonSocket"} == declared


def test_every_action_that_rules_know_is_one_of_its_feature():
    """A name in a declaration is the text of a plan's action in the feature's package, but for stars."""
    missing = {}
    for feature in FEATURES:
        folder = ROOT / feature.package.replace(".", "/")
        text = "".join(path.read_text() for path in folder.rglob("*.py") if path.name != "feature.py")
        for action in (*feature.suggested_actions, *feature.secret_actions):
            if not re.search(rf"[\"' ]{re.escape(action.strip('* '))}[\"' ]", text):
                missing[action] = feature.package
    assert missing == {}


def test_every_list_is_a_place_of_the_palette():
    for feature in FEATURES:
        assert {table.place for table in feature.tables} <= set(feature.places)


def test_a_group_of_the_channel_layer_that_is_named_centrally_is_used_by_several_features():
    """One that a single feature uses stands in its `feature.py`."""
    readers: dict[str, set[str]] = {}
    for path in MODULES:
        text = (ROOT / path).read_text()
        dotted = ".".join(path.parts)
        owner = max((name for name in PACKAGES if dotted.startswith(f"{name}.")), key=len, default=dotted)
        for name in re.findall(r"\bgroups\.([A-Za-z_]+)", text) if "live import groups" in text else ():
            readers.setdefault(name, set()).add(owner)
    functions = {name for name, function in vars(groups).items() if isfunction(function)} & readers.keys()
    constants = {name for name in vars(groups) if name.isupper() and not name.startswith("_")}
    assert {"HEARTBEAT", "topic"} <= functions | constants
    assert {name: readers.get(name) for name in functions | constants if len(readers.get(name, ())) < 2} == {}


def test_every_wing_has_a_contract_that_lists_all_of_its_features():
    """`exhaustive` has lint-imports refuse a package that the contract does not place."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layered = {
        container: contract["exhaustive"]
        for contract in contracts
        if contract["type"] == "layers"
        for container in contract["containers"]
        if container.startswith("console")
    }
    wings = {package.rpartition(".")[0] for package in PACKAGES} - {""}
    assert layered == dict.fromkeys(wings | {"console"}, True)


def test_every_page_that_is_pushed_to_is_the_page_of_a_template():
    """`other` is the page of every template that names none."""
    text = "".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    names = {page.name for feature in FEATURES for page in feature.pushed_pages}
    assert {name for name in names if f"live_page %}}{name}" not in text} == set()


def test_lists_sorted_by_figures_have_rows_of_a_kind_that_is_declared():
    kinds = {kind.name for feature in FEATURES for kind in feature.row_kinds}
    assert {page.sorted_rows for feature in FEATURES for page in feature.pushed_pages} - {""} <= kinds

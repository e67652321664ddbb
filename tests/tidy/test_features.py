"""Whatever a feature of the console declares is there, and whatever is there is declared."""

from collections import Counter
from importlib import import_module

import pytest
from django.template.loader import get_template
from django.urls import URLPattern, get_resolver
from django.utils.module_loading import import_string

from console.features import PACKAGES
from console.kit.features.listed import features
from tests.tidy.sources import ROOT

FEATURES = features()
#: What makes a package a feature: routes, rows, commands for Django, or a schedule.
SIGNS = ("urls.py", "models.py", "apps.py", "schedule.py", "migrations")
KINDS = ("links", "places", "commands", "topic_tabs", "reads", "actions")


def _routes(patterns=None) -> set[str]:
    found = set()
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        found |= {pattern.name} if isinstance(pattern, URLPattern) else _routes(pattern.url_patterns)
    return found


def _declared_routes() -> dict[str, str]:
    """Each route that a declaration names, with the package that names it."""
    named = {}
    for feature in FEATURES:
        entries = [entry for kind in KINDS for entry in getattr(feature, kind)]
        routes = [getattr(entry, "page", "") or entry.route for entry in entries]
        routes += [action.route for action in feature.actions]
        routes += [route for forms in feature.forms for route in (forms.page, *forms.routes)]
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
    for link in feature.links:
        assert not link.badge or get_template(link.badge)


@pytest.mark.parametrize("kind", [*KINDS, "pushed_pages", "row_kinds"])
def test_no_name_is_declared_twice(kind):
    names = [getattr(entry, "key", None) or entry.name for feature in FEATURES for entry in getattr(feature, kind)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_is_listed_behind_one_that_is_there(kind):
    entries = [entry for feature in FEATURES for entry in getattr(feature, kind)]
    assert {entry.after for entry in entries} - {entry.key for entry in entries} <= {""}


def test_every_page_that_is_pushed_to_is_the_page_of_a_template():
    """`other` is the page of every template that names none."""
    text = "".join(path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    names = {page.name for feature in FEATURES for page in feature.pushed_pages}
    assert {name for name in names if f"live_page %}}{name}" not in text} == set()


def test_lists_sorted_by_figures_have_rows_of_a_kind_that_is_declared():
    kinds = {kind.name for feature in FEATURES for kind in feature.row_kinds}
    assert {page.sorted_rows for feature in FEATURES for page in feature.pushed_pages} - {""} <= kinds

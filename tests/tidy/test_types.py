"""mypy, run by `make lint`, checks every module strictly; what is set otherwise for some of them has its reason."""

import re
import tomllib
from pathlib import Path

from tests.tidy.sources import ROOT

OVERRIDES_MAX = 10
#: Nothing follows the code: neither a comment nor a further code.
_WITHOUT_REASON = re.compile(r"# type: ignore\[[a-z, -]+\]$", re.MULTILINE)
_HEADER = "[[tool.mypy.overrides]]"
#: All that may be set for the whole, and for some modules. Another setting could take modules out of the check.
_OF_ALL = {
    "python_version",
    "files",
    "strict",
    "enable_error_code",
    "plugins",
    "untyped_calls_exclude",
    "overrides",
}
_OF_SOME = {
    "module",
    "disable_error_code",
    "disallow_subclassing_any",
    "disallow_untyped_decorators",
    "ignore_missing_imports",
    "implicit_reexport",
    "warn_return_any",
}


def test_nothing_is_taken_back_from_mypy():
    settings = _settings()
    assert settings["strict"]
    assert settings["files"] == ["broker", "console"]
    assert settings["enable_error_code"] == ["ignore-without-code"]
    assert settings.keys() <= _OF_ALL


def test_no_module_is_excused_from_types():
    overrides = _settings()["overrides"]
    assert {name for override in overrides for name in override} <= _OF_SOME
    untyped = [name for override in overrides if "ignore_missing_imports" in override for name in override["module"]]
    assert [name for name in untyped if name.startswith(("broker", "console", "*"))] == []
    assert [path for path in _product_paths() if "# mypy:" in path.read_text()] == []


def test_what_is_left_out_is_there_and_no_pure_room():
    """One code alone is left out, in what Django writes."""
    overrides = [override for override in _settings()["overrides"] if "disable_error_code" in override]
    assert [(override["module"], override["disable_error_code"]) for override in overrides] == [
        (["console.*.migrations.*"], ["var-annotated"])
    ]
    assert any(path.parent.name == "migrations" for path in _product_paths())


def test_each_error_that_a_line_ignores_has_its_reason_beside_it():
    bare = {str(path.relative_to(ROOT)): _WITHOUT_REASON.findall(path.read_text()) for path in _product_paths()}
    assert {name: item for name, item in bare.items() if item} == {}


def test_models_queries_and_requests_have_the_types_of_django():
    """Without the plugin a model's field, what a query names and `request.user` would be of any type."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    assert settings["mypy"]["plugins"] == ["mypy_django_plugin.main"]
    assert settings["django-stubs"] == {"django_settings_module": "console.settings"}
    untyped = [name for override in settings["mypy"]["overrides"] for name in override["module"]]
    assert [name for name in untyped if name.startswith("django")] == []


def test_each_override_has_its_reason_and_there_are_at_most_ten():
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    headers = [number for number, line in enumerate(lines) if line == _HEADER]
    assert len(headers) == len(_settings()["overrides"]) <= OVERRIDES_MAX
    assert [number + 1 for number in headers if not lines[number - 1].startswith("# ")] == []


def _settings() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]


def _product_paths() -> list[Path]:
    return [*(ROOT / "broker").rglob("*.py"), *(ROOT / "console").rglob("*.py")]

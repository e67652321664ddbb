"""mypy, run by `make lint`, checks everything strictly but for what is on a list that only shrinks."""

import tomllib

from tests.tidy.sources import ROOT

#: Who takes a room or a file off the list in pyproject.toml lowers this; nobody raises it.
UNCHECKED_COUNT = 1
#: Rooms that decide and do nothing; in the console these are modules.
PURE = {"protocol", "records", "coordinator", "controller", "replication", "security", "common", "config"}


def test_nothing_is_taken_back_from_mypy():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"]
    assert settings["files"] == ["broker", "console"]
    assert len(_unchecked(settings)) == UNCHECKED_COUNT


def test_what_is_left_out_is_there_and_no_pure_room():
    unchecked = _unchecked(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"])
    named = {name for name in unchecked if "*" not in name.removesuffix(".*")}
    places = {name: ROOT / name.removesuffix(".*").replace(".", "/") for name in named}
    missing = {name for name, place in places.items() if not (place.is_dir() or place.with_suffix(".py").is_file())}
    assert missing == set()
    assert {name for name in unchecked if name.startswith("broker.") and name.split(".")[1] in PURE} == set()
    assert {name for name, place in places.items() if name.startswith("console.") and _says_it_is_pure(place)} == set()


def _says_it_is_pure(place) -> bool:
    """By the first paragraph of its docstring."""
    return place.is_file() and " Pure" in place.read_text().split('"""')[1].partition("\n\n")[0]


def _unchecked(settings: dict) -> list[str]:
    return [name for each in settings["overrides"] if each.get("ignore_errors") for name in each["module"]]

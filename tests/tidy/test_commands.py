"""Every command has its names: in bin/ of a checkout, and as an entry point of the wheel."""

import os
import tomllib

from broker.cli.commands import ALL_NAMES, load_all
from broker.cli.frame.shown import markdown
from tests.tidy.sources import ROOT

FILES = {f"{name}{end}" for name in ALL_NAMES for end in ("", ".sh")}


def test_bin_has_every_command_under_both_names_and_nothing_else():
    links = {path.name: os.readlink(path) for path in (ROOT / "bin").iterdir() if path.is_symlink()}
    assert links == dict.fromkeys(FILES, ".command")
    assert {path.name for path in (ROOT / "bin").iterdir()} - FILES == {".command"}


def test_a_wheel_installs_every_command_under_both_names():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"barnabas": "broker.barnabas:main", **dict.fromkeys(FILES, "broker.cli.__main__:main")}


def test_the_reference_is_what_the_declarations_say():
    """`python -m broker.cli --markdown > broker/cli/COMMANDS.md`"""
    assert (ROOT / "broker/cli/COMMANDS.md").read_text() == markdown(load_all())

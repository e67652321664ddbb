"""Code that tests name in strings, as `package.module:Class.method`, exists: else a long run is the first to say it."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
_SITE = re.compile(r'"((?:broker|console)(?:\.\w+)+:\w+(?:\.\w+)*)"')
_SITES = sorted({site for path in TESTS.rglob("*.py") for site in _SITE.findall(path.read_text())})


def test_some_are_named():
    assert len(_SITES) > 20


@pytest.mark.parametrize("site", _SITES)
def test_the_named_code_exists(site):
    module, _, path = site.partition(":")
    assert reduce(getattr, path.split("."), importlib.import_module(module))

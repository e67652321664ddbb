"""The reference is made of the code as it is, and names every environment variable that the code reads."""

import re

import pytest

from console.kit.common.variables import GROUPS, INTERNAL, VARIABLES
from console.people.directory.configuration import _KNOWN as OF_DIRECTORY
from tests.documentation.reference import PARTS, made_anew, pages, parts_in
from tests.tidy.sources import ROOT, product_files

_VARIABLE = re.compile(r"BARNABAS_[A-Z_]*[A-Z]")
#: Record types of a schema registry's topic.
_OTHERS = {"BARNABAS_IDS"}
#: Prefixes of families, whose names are put together.
_FAMILIES = ("BARNABAS_OIDC_", "BARNABAS_LDAP_", "BARNABAS_SCHEMA_REGISTRY_", "BARNABAS_CONNECT_")
PAGES = [str(path.relative_to(ROOT)) for path in pages()]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_reference_is_current(page):
    text = (ROOT / page).read_text()
    assert made_anew(text) == text, f"{page} is stale: python -m tests.documentation.reference makes it anew"


def test_every_part_of_the_reference_is_on_one_page():
    on_pages = [part for page in PAGES for part in parts_in((ROOT / page).read_text())]
    assert sorted(on_pages) == sorted(PARTS)


def test_every_variable_that_the_code_reads_is_in_the_table():
    files = [path for path in product_files() if path != "console/kit/common/variables.py"]
    read = {name for path in files for name in _VARIABLE.findall((ROOT / path).read_text())}
    makefile = set(_VARIABLE.findall((ROOT / "Makefile").read_text()))
    of_families = {name for name in VARIABLES if name.startswith(_FAMILIES)}
    families = {prefix.rstrip("_") for prefix in _FAMILIES}
    put_together = {"BARNABAS_DEMO", "BARNABAS_AUDIT"}  # `settings.py` reads some as f"BARNABAS_{name}"
    assert (read | makefile) - VARIABLES.keys() - INTERNAL - _OTHERS - families == set()
    assert VARIABLES.keys() - read - makefile - of_families - put_together == set()


def test_variables_of_a_directory_are_those_it_understands():
    named = {name.removeprefix("BARNABAS_LDAP_") for name in VARIABLES if name.startswith("BARNABAS_LDAP_")}
    assert named == set(OF_DIRECTORY)


def test_no_variable_is_listed_twice():
    names = [variable.name for group in GROUPS for variable in group.variables]
    assert len(names) == len(set(names))

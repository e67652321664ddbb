"""The site of docs/ has every page, and its links lead within it. It is built by `make docs`, not here."""

import re

import yaml

from tests.documentation.markdown import links
from tests.documentation.site import beside_docs, for_the_site
from tests.tidy.sources import ROOT

PAGES = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}


def pages_in(nav: object) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for part in (nav.values() if isinstance(nav, dict) else nav) for page in pages_in(part)]


def test_every_page_is_in_the_navigation_once():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
    assert sorted(pages_in(nav)) == sorted(PAGES)


def test_every_link_of_a_page_leads_within_the_site():
    beside = beside_docs(ROOT)
    for page in PAGES:
        text = for_the_site((ROOT / "docs" / page).read_text(), f"docs/{page}", beside)
        for link in links(text):
            if not re.match(r"[a-z]+:|#", link):
                target = (
                    (ROOT / "docs" / page).parent.joinpath(link.partition("#")[0]).resolve().relative_to(ROOT / "docs")
                )
                assert str(target) in PAGES | {f"repository/{path}" for path in beside}


def test_links_of_a_document_beside_docs_are_the_site_s_or_words():
    text = "[a](docs/a.md#b) and [other](tests/other.md), `[code](docs/a.md)`"
    beside = {"NOTES.md"}
    assert for_the_site(text, "NOTES.md", beside) == "[a](../a.md#b) and other, `[code](docs/a.md)`"


def test_links_of_a_page_to_the_repository_lead_below_repository():
    assert for_the_site("[x](../../NOTES.md)", "docs/start/a.md", {"NOTES.md"}) == "[x](../repository/NOTES.md)"

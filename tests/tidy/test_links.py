"""Documents lead where they say: links and anchors, languages and commands of code blocks, lengths of sentences."""

import ast
import json
import os
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

from broker.config.properties import parse_properties
from broker.connect.plugins.built_in import BUILT_IN
from broker.connect.plugins.catalog import Plugin
from console.kit.common.variables import VARIABLES
from tests.documentation.commands import command_lines, problems
from tests.documentation.markdown import CodeBlock, anchors, code_blocks, links, prose_lines, sentences, word_count
from tests.documentation.reference import without_parts
from tests.documentation.typed import NOT_TYPED, TYPED
from tests.tidy.sources import ROOT

WORDS_MAX = 30
README_BYTES_MAX, ARCHITECTURE_BYTES_MAX = 8_192, 12_288
#: What a person reads first; the site has these and the pages below docs/.
FRONT = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
OF_SITE = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
WITH_LINKS = [*FRONT, *OF_SITE, "broker/cli/COMMANDS.md", "broker/common/SHARED_BOUNDS.md", "tests/README.md"]
#: Their sentences and code blocks are held to a form. CONTRIBUTING.md and CHANGELOG.md have tests of their own.
IN_FORM = ["README.md", "ARCHITECTURE.md", "SECURITY.md", *OF_SITE]
#: Keys of examples that Kafka has for every connector.
_OF_ANY_CONNECTOR = {"connector.class", "topics", "errors.tolerance", "errors.deadletterqueue.topic.name"}
#: What a person types, in a sentence.
_TYPED = re.compile(r"(make|barnabas|kafka-[\w-]+) [\w-]")
_ANYTHING = re.compile("…|NAME")
#: Pictures of text, and languages that nothing here reads.
_UNREAD = {"", "nginx", "text"}


@cache
def text_of(document: str) -> str:
    return (ROOT / document).read_text()


def target_of(document: str, link: str) -> str:
    """Return the path of a link's file below the root; the document's own for an anchor alone."""
    path = link.partition("#")[0]
    return os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document


@pytest.mark.parametrize("document", WITH_LINKS)
def test_every_link_leads_to_a_file_and_a_heading(document):
    broken = []
    for link in links(text_of(document)):
        if re.match(r"[a-z]+:", link):
            continue
        target, anchor = target_of(document, link), link.partition("#")[2]
        if not (ROOT / target).exists() or (anchor and anchor not in anchors(text_of(target))):
            broken.append(link)
    assert broken == []


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), ["README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached or not document.endswith(".md"):
            continue
        reached.add(document)
        inner = (link for link in links(text_of(document)) if not re.match(r"[a-z]+:", link))
        waiting += [target_of(document, link) for link in inner]
    assert set(OF_SITE) - reached == set()


@pytest.mark.parametrize("document", IN_FORM)
def test_no_sentence_of_a_document_is_too_long(document):
    long = [part for part in sentences(without_parts(text_of(document))) if word_count(part) > WORDS_MAX]
    assert long == []


@pytest.mark.parametrize("document", IN_FORM)
def test_every_code_block_can_be_read(document):
    wrong = {
        f"{document}:{block.line}": problem for block in code_blocks(text_of(document)) if (problem := _wrong(block))
    }
    assert wrong == {}


def _wrong(block: CodeBlock) -> str:
    """Return what is wrong with a block, empty for nothing."""
    readers = {
        "json": json.loads,
        "properties": parse_properties,
        "python": ast.parse,
        "toml": tomllib.loads,
        "yaml": yaml.safe_load,
    }
    if block.language == "sh":
        return "; ".join(problem for line in command_lines(block.text) for problem in problems(line))
    if block.language in readers:
        try:
            readers[block.language](block.text)
        except (ValueError, SyntaxError, yaml.YAMLError) as error:
            return str(error)
        return ""
    return "" if block.language in _UNREAD else f"{block.language} is no language of these documents"


@pytest.mark.parametrize("document", IN_FORM)
def test_every_command_and_variable_in_a_sentence_is_there(document):
    """Code between single backticks, where it is more than a name; `…` and NAME stand for anything."""
    prose = "\n".join(prose_lines(without_parts(text_of(document))))
    typed = [code for code in re.findall(r"`([^`\n]+)`", prose) if _TYPED.match(code) and not _ANYTHING.search(code)]
    wrong = [problem for code in typed for line in command_lines(code) for problem in problems(line)]
    assert wrong == []
    named = set(re.findall(r"BARNABAS_[A-Z_]*[A-Z]\b", prose))
    assert {name for name in named if not any(known.startswith(name) for known in VARIABLES)} == set()


def test_every_command_of_a_block_is_typed_by_a_test_or_has_its_reason():
    blocks = (block for document in IN_FORM for block in code_blocks(text_of(document)) if block.language == "sh")
    lines = {line for block in blocks for line in command_lines(block.text)}
    assert lines - TYPED - NOT_TYPED.keys() == set()
    assert (TYPED | NOT_TYPED.keys()) - lines == set(), "no document has it any more"
    assert TYPED & NOT_TYPED.keys() == set()
    named = {place for reason in NOT_TYPED.values() for place in re.findall(r"tests/[\w./]+\w", reason)}
    assert {place for place in named if not (ROOT / place).exists()} == set()


def test_every_connector_of_an_example_is_configured_right():
    configs = [
        json.loads(block.text)
        for block in code_blocks(text_of("docs/connect/connectors.md"))
        if block.language == "json"
    ]
    assert len(configs) >= 4
    for config in configs:
        plugin = Plugin(config["connector.class"], BUILT_IN[config["connector.class"]]).load()
        own = {name: value for name, value in config.items() if name in plugin.CONFIG.keys}
        assert [value.errors for value in plugin.CONFIG.validate(own) if value.errors] == []
        assert list(plugin().contradictions(plugin.CONFIG.parse(own))) == []
        assert config.keys() - own.keys() <= _OF_ANY_CONNECTOR


def test_the_first_documents_stay_short():
    sizes = {name: (ROOT / name).stat().st_size for name in ("README.md", "ARCHITECTURE.md")}
    assert sizes["README.md"] <= README_BYTES_MAX
    assert sizes["ARCHITECTURE.md"] <= ARCHITECTURE_BYTES_MAX


def test_the_readme_has_its_picture():
    pictures = [link for link in links(text_of("README.md")) if link.endswith(".png")]
    assert [Path(ROOT / picture).exists() for picture in pictures] == [True]

"""What documents say of the code is true of it: files they name exist, and their tables are whole."""

import ast
import re
import tomllib

import pytest

from broker.controller import controller, effects, events
from tests.tidy.sources import ROOT, nodes, product_files

DOCUMENTS = (
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md"),
    *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))),
)
_FILE = re.compile(r"(?<![\w./-])((?:[\w-]+/)*[\w-]+\.(?:py|md|html|js|css|toml))\b")
_FOLDER = re.compile(r"`((?:broker|console|tests|templates|static)/(?:[\w-]+/)*)`")
#: Stand for a name of one's own.
_PLACEHOLDERS = {"x.py", "kafka_x.py", "NAME.py", "big_orders.py", "utils.py"}
#: What a recipe makes.
_MADE_BY_RECIPES = re.compile(r"restarts|drill|describe_client_quotas|proxy\.py|copy\.py|cpu_source|pause_row")
_QUOTED = re.compile(r"`([^`]+)`")
_LISTS = ("on_role", "on_append", "on_high_watermark", "on_marker", "on_config")


def text_of(document: str) -> str:
    return (ROOT / document).read_text()


@pytest.fixture(scope="module")
def there() -> list[str]:
    """The repository's own files and folders, each with a slash before and folders with one behind."""
    tops = ("bin", "broker", "config", "console", "docs", "templates", "static", "tests", ".ci")
    paths = [
        *ROOT.glob("*.*"),
        *(ROOT / top for top in tops),
        *(path for top in tops for path in (ROOT / top).rglob("*")),
    ]
    own = (path for path in paths if "__pycache__" not in path.parts)
    return [f"/{path.relative_to(ROOT)}{'/' * path.is_dir()}" for path in own]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_a_document_names_is_there(document, there):
    """By its path from the root, or by the end of it that says enough."""
    made = _MADE_BY_RECIPES if document == "CONTRIBUTING.md" else re.compile(r"(?!)")
    named = {name for name in _FILE.findall(text_of(document)) if not made.search(name)}
    wanted = {name for name in named if name.rsplit("/", 1)[-1] not in _PLACEHOLDERS}
    assert {name for name in wanted if not any(path.endswith(f"/{name}") for path in there)} == set()
    folders = {name for name in _FOLDER.findall(text_of(document)) if not made.search(name)}
    assert {name for name in folders if f"/{name}" not in there} == set()


def test_the_floors_of_the_console_s_wings_are_those_of_the_contracts():
    """`a > b · c` in ARCHITECTURE is `["a", "b | c"]` in the wing's contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    wings = {
        contract["containers"][0].removeprefix("console."): " > ".join(contract["layers"]).replace(" | ", " · ")
        for contract in contracts
        if contract["type"] == "layers" and contract["containers"][0].startswith("console.")
    }
    drawn = " ".join(text_of("ARCHITECTURE.md").split())
    assert len(wings) == 8
    assert {wing: floors for wing, floors in wings.items() if f" {wing} {floors} " not in drawn} == {}


def decision_table() -> list[tuple[str, list[str], list[str]]]:
    """CONTRIBUTING's rows of what is decided where: the question, the files, and the names in them."""
    table = text_of("CONTRIBUTING.md").split("Where is it decided?")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!question)([^|]*) \| ([^|]*`[^|]*) \| ([^|]*`[^|]*) \|$", table, re.MULTILINE)
    return [(question, _QUOTED.findall(files), _QUOTED.findall(names)) for question, files, names in rows]


def test_twenty_questions_are_answered_by_names_that_their_files_define():
    table = decision_table()
    assert len(table) >= 20
    for question, files, names in table:
        text = "".join((ROOT / file).read_text() for file in files)
        missing = [
            name for name in names if not re.search(rf"^\s*(?:(?:def|class) )?{name}\b[:( =]", text, re.MULTILINE)
        ]
        assert missing == [], question


def controller_table() -> dict[str, tuple[str, str]]:
    """Event -> the flows and effects of its row."""
    page = text_of("docs/internals/controller.md")
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|([^|]*)\|$", page, re.MULTILINE)
    return {event: (flows, effects) for event, flows, effects in rows}


def test_the_controller_s_table_has_every_event_and_the_file_of_its_flow():
    table = controller_table()
    assert set(table) == {event.__name__ for event in events.ControllerEvent.__subclasses__()}
    flows = {event.__name__: flow.__module__.rsplit(".", 1)[-1] for event, flow in controller._FLOWS.items()}
    flows["ReplicasDeleted"] = "topic_deletion"  # and another; the function that calls both has no file of its own
    assert {event: flow for event, flow in flows.items() if f"`{flow}.py`" not in table[event][0]} == {}


def test_the_controller_s_table_has_every_effect_and_nothing_else():
    known = {effect.__name__ for effect in effects.ControllerEffect.__subclasses__()}
    outcomes = {event.__name__ for event in events.ControllerEvent.__subclasses__()}
    named = {name for _, effects in controller_table().values() for name in re.findall(r"`(\w+)`", effects)}
    assert named - outcomes == known


def test_the_table_of_listeners_is_the_code_s():
    """Who subscribes to which list of ReplicaManager."""
    used = {
        (node.func.value.attr, path.removeprefix("broker/runtime/"))
        for path, tree in product_files().items()
        if path.startswith("broker/")
        for node in nodes(tree)
        if _is_subscription(node)
    }
    listed_files, listed = set(), ""
    page = text_of("docs/internals/replication.md")
    for first, second in re.findall(r"^\|([^|]*)\|([^|]*)\|[^|]*\|$", page, re.MULTILINE):
        listed = next((list_ for list_ in _LISTS if f"`{list_}`" in first), listed if not first.strip() else "")
        listed_files |= {(listed, file) for file in re.findall(r"`([\w/]+\.py)`", second) if listed}
    assert listed_files == used


def _is_subscription(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr in _LISTS
        and isinstance(node.func.value.value, ast.Name)
        and node.func.value.value.id == "replicas"
    )


def test_every_message_of_troubleshooting_is_the_product_s():
    """A line of code alone; what stands between two `…` is in one text of the product."""
    messages = re.findall(r"^`(.+)`$", text_of("docs/operating/troubleshooting.md"), re.MULTILINE)
    assert len(messages) > 10
    text = "\n".join((ROOT / path).read_text() for path in product_files())
    parts = {part.strip() for message in messages for part in message.split("…") if len(part.strip()) > 3}
    broken = {part for part in parts if part not in text}  # over two lines of code, or nowhere
    joined = re.sub(r'"\s*\n\s*f?"', "", text)
    assert {part for part in broken if part not in joined} == set()


def test_troubleshooting_has_a_cause_and_a_remedy_for_each_symptom():
    page = text_of("docs/operating/troubleshooting.md")
    symptoms = page.split("\n### ")[1:]
    assert len(symptoms) >= 20
    incomplete = [
        symptom.partition("\n")[0] for symptom in symptoms if not ("*Cause.*" in symptom and "*Remedy.*" in symptom)
    ]
    assert incomplete == []

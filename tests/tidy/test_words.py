"""Every file says why it exists, under a name that says what it is."""

import ast
import re

from tests.tidy.sources import ROOT, files_of_tests, product_files

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "misc", "base"}
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
_EACH_IN_TEMPLATE = re.compile(r"\{% (?:for each|for \w+, each|with each)\b")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def test_every_file_opens_with_why_it_exists():
    empty = {path for path in product_files() if not (ROOT / path).read_text().strip()}
    silent = {path for path, tree in product_files().items() if path not in empty and not ast.get_docstring(tree)}
    assert silent == set()
    assert {path for path in empty if not path.endswith("__init__.py")} == set()


def test_every_package_of_the_broker_says_what_it_is_for():
    packages = {path: tree for path, tree in product_files().items() if re.fullmatch(r"broker/\w+/__init__.py", path)}
    assert {path for path, tree in packages.items() if not ast.get_docstring(tree)} == set()


def test_no_file_has_a_name_that_says_nothing():
    assert {path for path in product_files() if path.rsplit("/", 1)[-1].removesuffix(".py") in VAGUE_NAMES} == set()


def test_loop_variables_are_named_after_the_thing():
    """`for topic in topics`, not `for each in topics`: also in comprehensions, arguments of lambdas, and templates."""
    named = {
        f"{path}:{node.lineno}"
        for path, tree in (product_files() | files_of_tests()).items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and node.id == "each") or (isinstance(node, ast.arg) and node.arg == "each")
    }
    in_templates = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "templates").rglob("*")
        if path.is_file() and _EACH_IN_TEMPLATE.search(path.read_text())
    }
    assert named | in_templates == set()


def test_nothing_is_left_unfinished():
    marked = {path for path in product_files() if UNFINISHED.search((ROOT / path).read_text())}
    assert marked == set()


def test_tests_are_sentences():
    short = {
        f"{path}:{name}"
        for path in (ROOT / "tests").rglob("*.py")
        for name in TEST.findall(path.read_text())
        if name.count("_") < 3
    }
    assert short == set()


def test_nothing_catches_everything_without_saying_so():
    """`except Exception` belongs to the dispatcher and to supervisors, and each use logs or re-raises."""
    silent = set()
    for path, tree in product_files().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and _catches_everything(node) and not _speaks(node):
                silent.add(f"{path}:{node.lineno}")
    assert silent == set()


def _catches_everything(node: ast.ExceptHandler) -> bool:
    return node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))


def _speaks(node: ast.ExceptHandler) -> bool:
    return any(isinstance(inner, ast.Raise | ast.Call) for statement in node.body for inner in ast.walk(statement))

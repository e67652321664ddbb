"""Every file says why it exists, under a name that says what it is."""

import ast
import re
from collections.abc import Iterator

from tests.tidy.sources import ROOT, nodes, product_files

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "misc", "base"}
TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
ROOMS = "broker", "console", "tests"
#: What a name may be followed by, and a word of a sentence seldom is: such files are parsed.
_EACH_AS_NAME = re.compile(r"\beach\b(?:[,:.)\]=\[]| in\b| for\b)")
_EACH_IN_TEMPLATE = re.compile(r"\{% (?:for each|for \w+, each|with each)\b")
#: They say that something was looked for or spoken of, not what it is: match, records, response, document.
_SAYS_NOTHING = re.compile(r"_?(found|told|said|asked)")
_NEEDS_PARSING = re.compile(r"\b_?(found|told|said|asked)\b", re.IGNORECASE)
#: Class names that are somebody else's words, by their home; everywhere else a name stands for one class.
_OTHERS_CLASSES = {
    "Command": "Django's, of every management command",
    "ConfigType": "Kafka's, of the broker's settings and of Connect's API",
    "ConfigError": "Kafka's, of the broker's settings and of Connect's API",
    "Password": "Kafka's, of the broker's settings and of Connect's API",
    "Struct": "Kafka's, of the protocol and of Connect's API",
    "Broker": "Kafka's, of the process and of its row in the console",
}
#: Kafka's protocol repeats the names of structures in the files of its messages.
_KAFKAS_STRUCTURES = "broker/protocol/messages/"
_DOCSTRING_WORDS_MIN, _LONG_ENOUGH = 4, "no docstring is long enough"
_STANDS_ALONE = re.compile(r"(Raises?|See|As|Values of) ")
SENTENCE_WORDS_MAX = 30
#: Whose sentences are Kafka's own.
KAFKAS_TEXTS = {"broker/cli/groups/resetting_groups.py"}
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\n|\n(?=\s*[-*|])")
_WORD = re.compile(r"[A-Z]\w*")
_BRANCH = re.compile(r"\{%\s*(?:else|elif|endif|if|for|endfor|empty|include|block|endblock)\b.*?%\}", re.DOTALL)
_UNSEEN = re.compile(r"<(style|script)\b.*?</\1>|\{#.*?#\}", re.DOTALL)
_VALUE, _TAG = re.compile(r"\{\{.*?\}\}", re.DOTALL), re.compile(r"\{%.*?%\}", re.DOTALL)
_MARKUP = re.compile(r"<[^>]+>")
_BLOCK_ELEMENT = re.compile(
    r"</?(?:p|li|td|th|h\d|dd|dt|div|summary|label|button|option|figcaption|section|article|header|footer|nav|tr|ul|ol|"
    r"table|details|span class=.badge)\b[^>]*>"
)
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
    sources = [ROOT / "manage.py", *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
    texts = {path: path.read_text() for path in sources}
    named = {path for path, text in texts.items() if _EACH_AS_NAME.search(text) and _names_each(ast.parse(text))}
    templates = (path for path in (ROOT / "templates").rglob("*") if path.is_file())
    assert named | {path for path in templates if _EACH_IN_TEMPLATE.search(path.read_text())} == set()


def _names_each(tree: ast.Module) -> bool:
    named = (node.id if isinstance(node, ast.Name) else getattr(node, "arg", "") for node in ast.walk(tree))
    return "each" in named


def test_names_say_what_they_hold():
    """`records`, not `found`; `response`, not `told`: locals, parameters, fields, functions, classes; tests, too."""
    paths = [*product_files(), *(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*.py"))]
    texts = {path: (ROOT / path).read_text() for path in paths}
    vague = {
        f"{path}:{line} {name}"
        for path, text in texts.items()
        if _NEEDS_PARSING.search(text)
        for name, line in _bound_names(product_files().get(path) or ast.parse(text))
        if _SAYS_NOTHING.fullmatch(name)
    }
    assert vague == set()


def _bound_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(ctx=ast.Store(), id=name):
                yield name, node.lineno
            case ast.Attribute(ctx=ast.Store(), attr=name) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name.lower(), node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno


def test_a_class_name_stands_for_one_class():
    homes: dict[str, list[str]] = {}
    for path, tree in product_files().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not path.startswith(_KAFKAS_STRUCTURES):
                homes.setdefault(node.name, []).append(path)
    repeated = {name: paths for name, paths in homes.items() if len(paths) > 1}
    assert repeated.keys() - _OTHERS_CLASSES.keys() == set()
    assert _OTHERS_CLASSES.keys() - repeated.keys() == set(), "an exception that is not needed any more"


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
        for node in nodes(tree):
            if isinstance(node, ast.ExceptHandler) and _catches_everything(node) and not _speaks(node):
                silent.add(f"{path}:{node.lineno}")
    assert silent == set()


def _catches_everything(node: ast.ExceptHandler) -> bool:
    return node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException"))


def _speaks(node: ast.ExceptHandler) -> bool:
    return any(isinstance(inner, ast.Raise | ast.Call) for statement in node.body for inner in ast.walk(statement))


def test_a_docstring_is_a_sentence_or_names_what_it_raises():
    """Three riddling words are worse than none. What it raises, or where the same is described, may stand alone."""
    short = {
        f"{path}:{getattr(node, 'name', 1)}"
        for path, tree in product_files().items()
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module)
        if len((ast.get_docstring(node) or _LONG_ENOUGH).split()) < _DOCSTRING_WORDS_MIN
        and not _STANDS_ALONE.match(ast.get_docstring(node) or "")
    }
    assert short == set()


def test_sentences_of_pages_and_messages_are_short():
    long = [
        f"{path}: {sentence}" for path, text in (*_texts_of_templates(), *_texts_of_code()) for sentence in _long(text)
    ]
    assert long == []


def _texts_of_templates() -> Iterator[tuple[str, str]]:
    """Path and each paragraph without its markup; a value is one word."""
    for path in (ROOT / "templates").rglob("*.html"):
        text = _BRANCH.sub("\n\n", _UNSEEN.sub("", path.read_text()))
        text = _MARKUP.sub("", _BLOCK_ELEMENT.sub("\n\n", _TAG.sub(" ", _VALUE.sub("X", text))))
        for paragraph in text.split("\n\n"):
            yield str(path.relative_to(ROOT)), paragraph


def _texts_of_code() -> Iterator[tuple[str, str]]:
    """Path and each text of the program but its docstrings; a value is one word."""
    for path, tree in product_files().items():
        docstrings = {node.value for node in nodes(tree) if isinstance(node, ast.Expr)}
        for node in nodes(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node not in docstrings and path not in KAFKAS_TEXTS:
                    yield path, node.value
            elif isinstance(node, ast.JoinedStr):
                yield path, "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)


def _long(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        if _WORD.match(sentence) and len(sentence.split()) > SENTENCE_WORDS_MAX:
            yield " ".join(sentence.split())

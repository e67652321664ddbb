"""Where Kafka's behaviour is promised, texts are read and written by Java's rules (broker/common/java)."""

import ast

from tests.tidy.sources import product_files

#: Folders and files; what is below a folder in a folder of its own is not meant yet.
ROOMS = ("broker/connect/transforms/", "broker/connect/converters/", "broker/connect/api/config.py")
_PYTHONS_RULES = {"float", "int", "str"}


def test_rooms_of_java_rules_leave_reading_and_writing_of_texts_to_them():
    assert sorted(_uses(ROOMS)) == []


def _uses(rooms: tuple[str, ...]) -> list[str]:
    return [
        f"{path}:{node.lineno}"
        for path, tree in product_files().items()
        if any(path == room or path.rpartition("/")[0] + "/" == room for room in rooms)
        for node in ast.walk(tree)
        if _is_pythons(node)
    ]


def _is_pythons(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(name.name == "re" for name in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module == "re"
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PYTHONS_RULES


def test_a_use_of_pythons_rules_would_be_found():
    tree = ast.parse("import re\nint(text)\nfrom re import compile")
    assert sum(map(_is_pythons, ast.walk(tree))) == 3

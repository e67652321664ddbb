"""The product's own Python files, parsed once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


@cache
def product_files() -> dict[str, ast.Module]:
    """Path below the root: syntax tree, of everything but tests and migrations."""
    paths = [ROOT / "manage.py", *(ROOT / "broker").rglob("*.py"), *(ROOT / "console").rglob("*.py")]
    return {
        str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in paths if "migrations" not in path.parts
    }


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a file of the product in the order of `ast.walk`, which is slow and asked by twenty tests."""
    walked: list[ast.AST] = [tree]
    for node in walked:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                walked.append(value)
            elif isinstance(value, list):
                walked.extend(item for item in value if isinstance(item, ast.AST))
    return tuple(walked)


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

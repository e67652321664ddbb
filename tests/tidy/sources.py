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


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

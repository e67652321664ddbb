"""An error code that another program answers may be one that is unknown here: it is read by `error_code_of`."""

import ast

from tests.tidy.sources import ROOT, product_files


def _reads(tree: ast.AST) -> set[ast.Call]:
    """The calls that make an ErrorCode of something that is no constant."""
    return {
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "ErrorCode"
        and not isinstance(node.args[0], ast.Constant)
    }


def _guarded(tree: ast.AST) -> set[ast.Call]:
    guarded = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(
            "ValueError" in ast.unparse(handler.type or node) for handler in node.handlers
        ):
            guarded |= {call for statement in node.body for call in _reads(statement)}
    return guarded


def test_no_error_code_of_another_program_raises_a_value_error():
    unguarded = [
        f"{path}:{call.lineno}"
        for path, tree in product_files().items()
        if "ErrorCode(" in (ROOT / path).read_text()
        for call in _reads(tree) - _guarded(tree)
    ]
    assert not unguarded, f"use broker.common.errors.error_code_of: {unguarded}"


def test_the_look_finds_what_it_looks_for():
    tree = ast.parse("ErrorCode(answer.code)\ntry:\n    ErrorCode(answer.code)\nexcept ValueError:\n    pass")
    assert [call.lineno for call in _reads(tree) - _guarded(tree)] == [1]

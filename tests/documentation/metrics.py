"""Read from the source which Prometheus metrics there are: their names, types, labels and meanings. Nothing is run.

A metric is a call of a class `…MetricFamily`. Its words may be parts of constants, of a loop over a literal table or of
the arguments of the function around it; the calls of that function are then followed, also from other files.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from tests.tidy.sources import ROOT, product_files

#: What is not known before the code runs.
_UNKNOWN = object()
_DEPTH_MAX = 4


class MetricLine(NamedTuple):
    """One metric. A counter's name has the `_total` with which it is exposed."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


@cache
def metrics() -> dict[str, list[MetricLine]]:
    """Path below the root: the metrics that its code makes, also by functions of other files, in their order."""
    metric_lines: dict[str, list[MetricLine]] = {}
    for path, tree in product_files().items():
        if "MetricFamily" in (ROOT / path).read_text():
            for call, scopes in _calls(tree, lambda name: name.endswith("MetricFamily")):
                for where, environment in _environments(path, scopes, _DEPTH_MAX):
                    metric_lines.setdefault(where, []).append(_line(call, environment))
    return {path: list(dict.fromkeys(lines)) for path, lines in sorted(metric_lines.items())}


@cache
def _constants(path: str) -> dict[str, Any]:
    """Return the module's constants and those that it imports from other files of the product."""
    names: dict[str, Any] = {}
    for node in product_files()[path].body:
        if isinstance(node, ast.ImportFrom) and (other := _file_of(node.module)) in product_files():
            theirs = _constants(other) if any(alias.name.isupper() for alias in node.names) else {}
            names |= {alias.asname or alias.name: theirs.get(alias.name, _UNKNOWN) for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id: _value(node.value, names) for target in targets if isinstance(target, ast.Name)}
    return names


def _file_of(module: str | None) -> str:
    return f"{(module or '').replace('.', '/')}.py"


def _calls(
    node: ast.AST, is_wanted: Callable[[str], bool], scopes: tuple[ast.AST, ...] = ()
) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    """Yield each call of such a name with the functions and loops around it, the outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and is_wanted(child.func.id):
            yield child, scopes
        inner = (*scopes, child) if isinstance(child, ast.FunctionDef | ast.For) else scopes
        yield from _calls(child, is_wanted, inner)


def _environments(path: str, scopes: tuple[ast.AST, ...], depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what names stand for inside of `scopes`, and the file that calls, for each call and row of a table."""
    environments = [(path, dict(_constants(path)))]
    for scope in scopes:
        if isinstance(scope, ast.FunctionDef):
            environments = list(_of_calls(path, scope, depth))
        elif isinstance(scope, ast.For):
            environments = [(where, inner) for where, outer in environments for inner in _of_rows(scope, outer)]
    for where, environment in environments:
        for node in (node for scope in scopes[-1:] for node in ast.walk(scope)):
            if isinstance(node, ast.Assign):
                _bind(node.targets[0], _value(node.value, environment), environment)
        yield where, environment


def _of_calls(path: str, function: ast.FunctionDef, depth: int) -> Iterator[tuple[str, dict[str, Any]]]:
    parameters = [argument.arg for argument in function.args.args]
    if not depth or parameters[:1] == ["self"] or not parameters:
        yield path, dict(_constants(path))
        return
    for caller in _users(path, function.name):
        for call, scopes in _calls(product_files()[caller], lambda name: name == function.name):
            for where, outer in _environments(caller, scopes, depth - 1):
                values = [_value(argument, outer) for argument in call.args]
                yield where, {**_constants(path), **dict(zip(parameters, values, strict=False))}


def _users(path: str, name: str) -> list[str]:
    """Return the file itself and those that import `name` from it."""
    return [path, *_importers().get((path, name), ())]


@cache
def _importers() -> dict[tuple[str, str], list[str]]:
    """File and name: the files that import the name from there, at their top."""
    results: dict[tuple[str, str], list[str]] = {}
    for other, tree in product_files().items():
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    results.setdefault((_file_of(node.module), alias.name), []).append(other)
    return results


def _of_rows(loop: ast.For, outer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    table = _value(loop.iter, outer)
    if not isinstance(table, list | tuple):
        yield outer
        return
    for row in table:
        inner = dict(outer)
        _bind(loop.target, row, inner)
        yield inner


def _bind(target: ast.expr, value: Any, environment: dict[str, Any]) -> None:
    if isinstance(target, ast.Name) and (value is not _UNKNOWN or target.id not in environment):
        environment[target.id] = value
    elif isinstance(target, ast.Tuple) and isinstance(value, list | tuple) and len(value) == len(target.elts):
        for part, part_value in zip(target.elts, value, strict=True):
            _bind(part, part_value, environment)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return names.get(name, _UNKNOWN)
        case ast.Tuple(parts) | ast.List(parts):
            values = [_value(part, names) for part in parts]
            unpacked = [
                value if isinstance(part, ast.Starred) else [value] for part, value in zip(parts, values, strict=True)
            ]
            return [value for part in unpacked for value in (part if isinstance(part, list | tuple) else [part])]
        case ast.Starred(value):
            return _value(value, names)
        case ast.Dict(keys, values):
            pairs = zip(keys, values, strict=True)
            return [(_value(key, names) if key else _UNKNOWN, _value(value, names)) for key, value in pairs]
        case ast.Call(ast.Attribute(value, "items"), [], []):
            return _value(value, names)
        case ast.BinOp(left, ast.Add(), right):
            both = _value(left, names), _value(right, names)
            return both[0] + both[1] if all(isinstance(part, str) for part in both) else _UNKNOWN
        case ast.JoinedStr(parts):
            texts = [_value(part.value if isinstance(part, ast.FormattedValue) else part, names) for part in parts]
            return _UNKNOWN if _UNKNOWN in texts else "".join(map(str, texts))
    return _UNKNOWN


def _line(call: ast.Call, names: Mapping[str, Any]) -> MetricLine:
    given = {keyword.arg: _value(keyword.value, names) for keyword in call.keywords}
    name, meaning = (_value(argument, names) for argument in call.args[:2])
    labels = given.get("labels", [])
    if not all(isinstance(part, str) for part in (name, meaning, *labels)):
        raise ValueError(f"line {call.lineno}: the words of this metric are not read: {ast.unparse(call)}")
    kind = call.func.id.removesuffix("MetricFamily").lower() if isinstance(call.func, ast.Name) else ""
    return MetricLine(name + "_total" * (kind == "counter"), kind, tuple(labels), meaning)

"""The response that a request declares, which mypy reads, is the response of its API, which the program decodes."""

import ast
from pathlib import Path

import pytest

from broker.protocol import messages
from broker.protocol.messages import MESSAGES, response_type


def declared_response(api) -> str:
    """Return X of `class …Request(Request["X"], …)` in the module of `api`."""
    tree = ast.parse((Path(messages.__file__).parent / f"{api.name.lower()}.py").read_text())
    name = MESSAGES[api].request.__name__
    (declaration,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    (base,) = declaration.bases
    assert isinstance(base, ast.Subscript)
    assert ast.unparse(base.value) == "Request"
    return ast.literal_eval(base.slice)


@pytest.mark.parametrize("api", MESSAGES)
def test_the_response_a_request_names_is_that_of_its_api(api):
    pair = MESSAGES[api]
    assert declared_response(api) == pair.response.__name__
    assert response_type(pair.request()) is pair.response

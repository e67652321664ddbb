"""Is a document one of a JSON Schema? Asked of a process of its own: a pattern can keep Python busy for years.

`python -m console.cluster.schemas.json_check` reads {"schema", "referred", "document"} and writes what is wrong, or
nothing.
"""

import json
import subprocess
import sys
from typing import Any

from broker.common.installation import module_command, with_code_path
from console.cluster.schemas.errors import NotEncodedError

_SECONDS_MAX = 5.0


def check(schema: str, referred: dict[str, str], document: str) -> None:
    """Validate the document.

    Raises NotEncodedError with the path that does not fit, also for a check that takes too long.
    """
    question = json.dumps({"schema": schema, "referred": referred, "document": document})
    try:
        done = subprocess.run(
            module_command("console.cluster.schemas.json_check"), input=question, env=with_code_path({}),
            capture_output=True, text=True, timeout=_SECONDS_MAX, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotEncodedError(f"whether it fits the schema is not found out within {_SECONDS_MAX:.0f} s") from None
    if done.returncode or done.stdout:
        raise NotEncodedError(done.stdout[:500] or "whether it fits the schema could not be found out")


def problem(schema: str, referred: dict[str, str], document: str) -> str:
    """Empty: there is none. Nothing is fetched: a reference leads to what was handed over, or nowhere."""
    from jsonschema.exceptions import best_match
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7

    from broker.registry.json_schema.java_patterns import java_validator

    contents = json.loads(schema)
    resources = [(uri, Resource.from_contents(json.loads(item), DRAFT7)) for uri, item in referred.items()]
    known: Any = Registry().with_resources(resources)
    worst = best_match(java_validator(contents)(contents, registry=known).iter_errors(json.loads(document)))
    return "" if worst is None else f"{worst.json_path.removeprefix('$.')}: {worst.message}"


def _main() -> None:
    question = json.loads(sys.stdin.read())
    try:
        sys.stdout.write(problem(question["schema"], question["referred"], question["document"]))
    except Exception as error:  # whatever a schema does to the validator is the answer
        sys.stdout.write(f"the schema cannot be used: {type(error).__name__} {error!s:.200}")


if __name__ == "__main__":
    _main()

"""The project a person begins a connector of their own with: it runs as it is, and its test passes."""

import keyword
import re
import sys

from broker.connect.template import sink, source

KINDS = {"source": source, "sink": sink}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
#: Modules that a plugin of the name would hide from the worker, or be hidden by.
_TAKEN = {*sys.stdlib_module_names, *keyword.kwlist, "broker", "console", "connector", "test", "tests"}

_PYPROJECT = """[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "@name@"
version = "0.1.0"
requires-python = ">=3.11"
# Not named: barnabas. Install this where the worker is installed.

[project.entry-points."barnabas.connect"]
"@class@" = "@name@.connector:@class@"

[tool.setuptools]
packages = ["@name@"]

[tool.pytest.ini_options]
pythonpath = ["."]
"""

_README = """# @name@

A @kind@ connector for Barnabas. `@name@/connector.py` is all of it; `tests/` runs it without a worker.

```
python -m pytest                     # with Barnabas and pytest in the environment
pip install .                        # into the environment of the worker, which is then started again
curl 127.0.0.1:8083/connector-plugins
curl -X PUT -H 'Content-Type: application/json' 127.0.0.1:8083/connectors/@name@/config \\
  -d '{"connector.class": "@class@", @example@}'
```

A worker of `make up` asks for the user and password in its `data/secrets/connect-login`: `curl -u "$(cat …)"`.
"""


def is_plugin_name(name: str) -> bool:
    """Return whether the name can be a Python module's and is not taken."""
    return _NAME.fullmatch(name) is not None and name not in _TAKEN


def project(name: str, kind: str) -> dict[str, str]:
    """Return the files by their place in the project; `kind` is one of KINDS."""
    chosen = KINDS[kind]
    words = "".join(part.capitalize() for part in name.split("_"))
    texts = {
        "pyproject.toml": _PYPROJECT,
        "README.md": _README,
        f"{name}/__init__.py": '"""The connector @class@."""\n',
        f"{name}/connector.py": chosen.CONNECTOR,
        f"tests/test_{name}.py": chosen.TEST,
    }
    replacements = {
        "@name@": name,
        "@class@": f"{words}{kind.capitalize()}Connector",
        "@task@": f"{words}{kind.capitalize()}Task",
    }
    replacements |= {"@kind@": kind, "@example@": chosen.EXAMPLE}
    return {place: re.sub("@[a-z]+@", lambda match: replacements[match[0]], text) for place, text in texts.items()}

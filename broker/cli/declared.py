"""`barnabas diff | apply | drift | export`: a cluster declared in files, over the console's HTTP API.

    barnabas export --names 'shop.*' > shop.yaml
    barnabas diff shop.yaml                                 # what would be done, and the digest of it
    barnabas apply shop.yaml                                # shows it and asks first
    barnabas apply shop.yaml --yes --digest DIGEST          # only if it is still what was reviewed
    barnabas drift shop.yaml                                # 0 as declared, 1 not so, 2 not known

The console compares, plans and carries out; a file is sent to it as it is.
"""

import argparse
import hmac
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from broker.cli.api import add_arguments, confirm, console_parser, contents, plan_lines, token_in
from broker.cli.api_client import ApiClient, ConsoleRefused

ACTION = "apply-declaration"
SAME, DIFFERS, NOT_KNOWN = 0, 1, 2
#: Of a declaration with many changes, which are carried out while the console is waited for.
_TIMEOUT_S = 900.0
_KINDS = ("topics", "acls", "quotas", "groups", "connectors")


def diff(argv: list[str]) -> int:
    """Return 0 if a plan could be made, whatever it says."""
    return _run(_parser("diff", "Show what differs between files and the cluster; nothing changes."), argv, _diff, 1)


def apply(argv: list[str]) -> int:
    """Return 0 when it was done, or nothing was to be done; 1 when it was refused or not confirmed; 3 when it waits."""
    parser = _parser("apply", "Make the cluster as files declare it; shows the plan first and asks for confirmation.")
    add_arguments(parser)
    parser.add_argument("--digest", default="", help="of a diff that was reviewed: nothing is done if it is another")
    parser.add_argument("--yes", action="store_true", help="do not ask; needs --digest")
    parser.add_argument("--typed", default="", metavar="NAME", help="with --yes: what has to be typed")
    return _run(parser, argv, _apply, 1)


def drift(argv: list[str]) -> int:
    """Return 0 if the cluster is as declared, 1 if it is not, 2 if that could not be found out."""
    parser = _parser("drift", "End with 0 if the cluster is as files declare it, with 1 if not, with 2 if unknown.")
    return _run(parser, argv, _drift, NOT_KNOWN)


def export(argv: list[str]) -> int:
    """0; 1 when it was refused."""
    parser = console_parser("barnabas export", "Write today's cluster as a file that declares it.")
    parser.add_argument("--only", action="append", default=[], choices=_KINDS, help="again for several")
    parser.add_argument("--names", default="", metavar="PATTERN", help="those whose names match, as 'shop.*'")
    return _run(parser, argv, _export, 1)


def _diff(client: ApiClient, arguments: argparse.Namespace) -> int:
    plan = _planned(client, arguments)
    if arguments.output == "json":
        print(json.dumps(plan, indent=2))
        return 0
    print("\n".join(plan_lines(plan)))
    if plan["changes"] and not plan["obstacle"]:
        print(f"  Digest: {plan['digest']}")
    return 0


def _apply(client: ApiClient, arguments: argparse.Namespace) -> int:
    plan = _planned(client, arguments)
    print("\n".join(plan_lines(plan)), file=sys.stderr)
    if plan["obstacle"]:
        return 1
    if not plan["changes"]:
        print("The cluster is as the files declare it.")
        return 0
    if arguments.digest and not hmac.compare_digest(arguments.digest.encode(), plan["digest"].encode()):
        raise ConsoleRefused(f"this is not what was reviewed: its digest is {plan['digest']}. Nothing was changed.")
    return confirm(client, plan, arguments)


def _drift(client: ApiClient, arguments: argparse.Namespace) -> int:
    plan = _planned(client, arguments)
    if arguments.output == "json":
        print(json.dumps(plan, indent=2))
    elif plan["changes"] or plan["obstacle"]:
        print("\n".join(plan_lines(plan)))
    if plan["changes"]:
        return DIFFERS
    return NOT_KNOWN if plan["obstacle"] else SAME


def _export(client: ApiClient, arguments: argparse.Namespace) -> int:
    asked_for = {"only": arguments.only, "names": arguments.names}
    sys.stdout.write(client.get("declaration", {name: value for name, value in asked_for.items() if value})["text"])
    return 0


def _planned(client: ApiClient, arguments: argparse.Namespace) -> Mapping[str, Any]:
    files = {"file": arguments.files, "text": [_text(file) for file in arguments.files]}
    flags = {"prune": arguments.prune, "at_once": arguments.at_once}
    prune = {name: "on" for name, is_said in flags.items() if is_said}
    plan: Mapping[str, Any] = client.post("plans", {"action": ACTION, "parameters": files | prune})
    return plan


def _text(file: str) -> str:
    return sys.stdin.read() if file == "-" else contents(Path(file))


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = console_parser(f"barnabas {name}", description)
    parser.add_argument("files", nargs="+", metavar="FILE", help="YAML or JSON; - is the standard input")
    parser.add_argument(
        "--prune",
        action="store_true",
        help="also delete what the files do not declare within the scope they name; topics go after a day of grace",
    )
    parser.add_argument("--at-once", action="store_true", help="with --prune: topics go now")
    parser.add_argument("--output", choices=("text", "json"), default="text")
    return parser


def _run(
    parser: argparse.ArgumentParser,
    argv: list[str],
    run: Callable[[ApiClient, argparse.Namespace], int],
    refused_status: int,
) -> int:
    arguments = parser.parse_args(argv)
    if getattr(arguments, "yes", False) and not arguments.digest:
        parser.error("--yes needs --digest: the digest that `barnabas diff` has shown")
    if getattr(arguments, "at_once", False) and not arguments.prune:
        parser.error("--at-once needs --prune: it says when what is not declared goes")
    client = ApiClient(arguments.url, token_in(arguments.token_file), arguments.ca_file, _TIMEOUT_S)
    try:
        return run(client, arguments)
    except ConsoleRefused as refusal:
        print(f"{parser.prog.removeprefix('barnabas ')}: {refusal}", file=sys.stderr)
        return refused_status

"""`barnabas api …`: requests to a console's HTTP API, for scripts and the command line.

    barnabas api get topics search=orders
    barnabas api plan create-topic name=clicks partition_count=3 replication_factor=2
    barnabas api apply delete-topic name=clicks            # shows the plan and asks first
    barnabas api events

The token comes from a file of mode 600 (BARNABAS_TOKEN_FILE), never from the command line, which others can read.
"""

import argparse
import json
import os
import stat
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from broker.cli.api_client import ApiClient, ConsoleRefused
from broker.common.errors import StartupError

#: The exit status of a change that is not made, but waits for a second person or for its time.
WAITS = 3
USUAL_URL = "http://127.0.0.1:8080"
_FILE_BYTES_MAX = 1024 * 1024


def main(argv: list[str]) -> int:
    """Return 0 when it was done, 1 when it was refused or not confirmed, 3 when it waits for somebody else, or its
    time.
    """
    arguments = _parser().parse_args(argv)
    client = ApiClient(arguments.url, token_in(arguments.token_file), arguments.ca_file)
    try:
        return int(arguments.run(client, arguments))
    except ConsoleRefused as refusal:
        print(f"api: {refusal}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (what is left in the buffer goes nowhere)
        return 0


def _get(client: ApiClient, arguments: argparse.Namespace) -> int:
    answer = client.get(arguments.path, _parameters(arguments.parameters))
    if arguments.output == "json" or "rows" not in answer:
        print(json.dumps(answer, indent=2))
        return 0
    for line in table(answer["rows"]):
        print(line)
    if answer["more"]:
        behind = answer["skip"] + len(answer["rows"])
        print(f"There are more: skip={behind}, or take=10000.", file=sys.stderr)
    return 0


def _actions(client: ApiClient, _arguments: argparse.Namespace) -> int:
    for action in client.get("actions", {}):
        print(f"{action['name']:<24} {action['summary']}\n{'':<24} {', '.join(action['parameters'])}")
    return 0


def _plan(client: ApiClient, arguments: argparse.Namespace) -> int:
    plan = client.post("plans", {"action": arguments.action, "parameters": _parameters(arguments.parameters)})
    print(json.dumps(plan, indent=2) if arguments.output == "json" else "\n".join(plan_lines(plan)))
    return 0


def _apply(client: ApiClient, arguments: argparse.Namespace) -> int:
    """Apply the request; one without a plan is carried out at once, as in the console."""
    body = {"action": arguments.action, "parameters": _parameters(arguments.parameters)}
    known = {action["name"]: action for action in client.get("actions", {})}
    if not known.get(arguments.action, {"needs_plan": True})["needs_plan"]:
        return print_result(client.post("plans/apply", body))
    plan = client.post("plans", body)
    print("\n".join(plan_lines(plan)), file=sys.stderr)
    if plan["obstacle"]:
        return 1
    return confirm(client, plan, arguments)


def confirm(client: ApiClient, plan: Mapping[str, Any], arguments: argparse.Namespace) -> int:
    """Ask for the plan's confirmation unless it was typed, and apply it. Return the command's exit status."""
    typed = arguments.typed if arguments.yes else typed_confirmation(plan)
    if typed is None:
        print("Nothing was changed.", file=sys.stderr)
        return 1
    words = {"reason": arguments.reason, "emergency": arguments.emergency}
    confirmed = {"digest": plan["digest"], "typed_name": typed, **words}
    return print_result(client.post("plans/apply", {**plan["apply"], **confirmed}))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that confirm a plan."""
    parser.add_argument("--reason", default="", help="for the approver, if it has to wait")
    parser.add_argument("--emergency", default="", metavar="WHY", help="of an administrator: it cannot wait its time")


def print_result(answer: Mapping[str, Any]) -> int:
    """Print what was done or what is now pending; return the exit status."""
    print("\n".join(answer["messages"]) or "Done.")
    return 0 if answer.get("applied", True) else WAITS


def typed_confirmation(plan: Mapping[str, Any]) -> str | None:
    """Ask for the plan's confirmation. Return what was typed, None if it does not confirm."""
    wanted = plan["typed_name"]
    question = f"Type {wanted} to go on: " if wanted else "Go on? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    typed = sys.stdin.readline().strip()
    if wanted:
        return typed if typed == wanted else None
    return "" if typed.lower() in ("y", "yes") else None


def _events(client: ApiClient, _arguments: argparse.Namespace) -> int:
    for line in client.lines("events"):
        if line.startswith("data: "):
            print(line.removeprefix("data: "), flush=True)
    return 0


def plan_lines(plan: Mapping[str, Any]) -> Iterable[str]:
    yield f"{plan['action']}: {plan['object_type']} {plan['object_name']}"
    for change in plan["changes"]:
        yield f"  {change['name']}: {_shown(change['old'])} -> {_shown(change['new'])}"
    if not plan["changes"]:
        yield "  nothing would change"
    yield from (f"  ! {loss}" for loss in plan["losses"])
    yield from (f"  {touch}" for touch in plan["touches"])
    yield f"  Undo: {plan['undo']}" if plan["undo"] else "  It cannot be undone."
    if plan.get("waits"):
        yield f"  {plan['waits']}"
    if plan["obstacle"]:
        yield f"  Not now: {plan['obstacle']}"


def table(rows: list[dict[str, Any]]) -> Iterable[str]:
    if not rows:
        yield "(none)"
        return
    cells = [[*rows[0]], *([_shown(value) for value in row.values()] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    for row in cells:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _shown(value: object) -> str:
    """Return the value without control characters, which would move the terminal's cursor."""
    if value is None:
        return "-"
    if isinstance(value, list):
        value = ",".join(map(_shown, value))
    elif isinstance(value, dict):
        value = ",".join(f"{name}={_shown(item)}" for name, item in value.items())
    text = str(value).replace("\u202f", " ").replace("\xa0", " ")
    return "".join(name if name.isprintable() else "?" for name in text)


def _parameters(words: Iterable[str]) -> dict[str, str | list[str]]:
    """Parse `name=value`, again for a list; `name=@FILE` for the content of a file. Raises StartupError."""
    by_name: dict[str, list[str]] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or not name:
            raise StartupError(f"{word} is not NAME=VALUE.")
        by_name.setdefault(name, []).append(contents(Path(value[1:])) if value.startswith("@") else value)
    return {name: values[0] if len(values) == 1 else values for name, values in by_name.items()}


def contents(path: Path) -> str:
    """Raises StartupError."""
    try:
        if path.stat().st_size > _FILE_BYTES_MAX:
            raise StartupError(f"{path} is larger than {_FILE_BYTES_MAX} bytes.")
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"{path} cannot be read: {error}.") from None


def token_in(path: str) -> str:
    """Raises StartupError, also for a file that others can read."""
    if not path:
        raise StartupError("name the file of your token: --token-file FILE, or BARNABAS_TOKEN_FILE; /tokens/ makes one")
    try:
        if os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise StartupError(f"{path} can be read by others; chmod 600 it")
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StartupError(f"{path} cannot be read: {error}") from None


def console_parser(program: str, description: str) -> argparse.ArgumentParser:
    """Return a parser with the options for the console's address and the user."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument(
        "--url", default=os.environ.get("BARNABAS_URL", USUAL_URL), help="of the console (BARNABAS_URL, %(default)s)"
    )
    parser.add_argument(
        "--token-file",
        default=os.environ.get("BARNABAS_TOKEN_FILE", ""),
        metavar="FILE",
        help="of mode 600 (BARNABAS_TOKEN_FILE)",
    )
    parser.add_argument("--ca-file", metavar="FILE", help="authority of the console's certificate, if it is your own")
    return parser


def _parser() -> argparse.ArgumentParser:
    parser = console_parser("barnabas api", "Ask a console over its HTTP API.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    get = _command(commands, "get", _get, "read a table, as topics, brokers, groups, topics/NAME/partitions")
    get.add_argument("path")
    _command(commands, "actions", _actions, "list what can be planned")
    plan = _command(commands, "plan", _plan, "have a plan made; nothing changes")
    apply = _command(commands, "apply", _apply, "have a plan made, show it, ask, and have it carried out")
    for argument_parser in (plan, apply):
        argument_parser.add_argument("action")
    for argument_parser in (get, plan, apply):
        argument_parser.add_argument("parameters", nargs="*", metavar="NAME=VALUE", help="again for a list; NAME=@FILE")
        argument_parser.add_argument("--output", choices=("text", "json"), default="text")
    apply.add_argument("--yes", action="store_true", help="do not ask")
    add_arguments(apply)
    apply.add_argument("--typed", default="", metavar="NAME", help="with --yes: the name that has to be typed")
    _command(commands, "events", _events, "what happens in the cluster, a line of JSON each")
    return parser


def _command(commands: Any, name: str, run: Any, meaning: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=meaning, description=meaning)
    parser.set_defaults(run=run)
    return parser

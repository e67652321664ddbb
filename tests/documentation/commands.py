"""Check the lines of a shell in a document against the code: commands, their options, make's targets, variables."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from broker.__main__ import COMMANDS
from broker.barnabas import BROKER_COMMANDS, CONSOLE_COMMANDS
from broker.cli.commands import ALL_NAMES, load
from broker.cli.frame.declaration import CommandError
from broker.cli.frame.parsing import parse
from console.kit.common.variables import VARIABLES
from tests.tidy.sources import ROOT

#: Programs of others, whose options are not ours to check.
_OTHERS = {"cp", "curl", "git", "kcat", "pip"}
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)
#: `$(cat FILE)`: the value of another command.
_SUBSTITUTED = re.compile(r"\$\([^)]*\)")
_TARGET = re.compile(r"^([a-z-]+):", re.MULTILINE)


def command_lines(text: str) -> list[str]:
    """Return the commands of a block, without their comments; a line that ends with a backslash goes on."""
    lines = _SUBSTITUTED.sub("VALUE", re.sub(r"\\\n\s*", " ", text)).splitlines()
    return [part for line in lines for part in _commands_of(line)]


def _commands_of(line: str) -> list[str]:
    words = shlex.shlex(line, posix=True, punctuation_chars=";|&")
    words.whitespace_split = True
    words.commenters = "#"
    parts: list[list[str]] = [[]]
    for word in words:
        if word in (";", "|", "&&"):
            parts.append([])
        else:
            parts[-1].append(word)
    return [shlex.join(part) for part in parts if part]


def problems(line: str) -> Iterator[str]:
    """Yield what is wrong with one command, in words."""
    words = shlex.split(line)
    while words and (assigned := _ASSIGNMENT.fullmatch(words[0])):
        if assigned[1].startswith("BARNABAS_") and assigned[1] not in VARIABLES:
            yield f"{assigned[1]} is no variable"
        words.pop(0)
    if words[:1] and re.fullmatch(r"(\.venv/bin/)?python\d?", words[0]):
        words.pop(0)
    match words:
        case []:
            return
        case ["make", *rest]:
            yield from _problems_of_make(rest)
        case ["-m", module, *rest] if module in ("broker", "console"):
            yield from _problems_of_module(module, rest)
        case ["-m", module, *_]:
            if not (ROOT / f"{module.replace('.', '/').replace('NAME', 'acks')}.py").exists() and not _is_package(
                module
            ):
                yield f"there is no module {module}"
        case ["manage.py", command, *_] | ["console", command, *_]:
            yield from _unless(command in _console_commands(), f"manage.py has no command {command}")
        case ["barnabas", "console", command, *_]:
            yield from _unless(command in _console_commands(), f"barnabas console has no command {command}")
        case ["barnabas", command, *rest]:
            known = {**CONSOLE_COMMANDS, **BROKER_COMMANDS, "--help": "", "--version": ""}
            yield from _unless(command in known, f"barnabas has no command {command}")
            if command in BROKER_COMMANDS:
                yield from _unknown_options({"broker": "server"}.get(command, command), rest)
        case [program, *rest]:
            name = program.removeprefix("bin/").removesuffix(".sh")
            if name in ALL_NAMES:
                yield from _problems_of_kafka(name, rest)
            else:
                yield from _unless(name in _OTHERS, f"{program} is no command of ours")


def _problems_of_make(words: list[str]) -> Iterator[str]:
    makefile = (ROOT / "Makefile").read_text()
    for word in words:
        if assigned := _ASSIGNMENT.fullmatch(word):
            yield from _unless(f"$({assigned[1]}" in makefile, f"make knows no {assigned[1]}=")
        else:
            yield from _unless(word in _TARGET.findall(makefile), f"make has no target {word}")


def _problems_of_module(module: str, words: list[str]) -> Iterator[str]:
    command, known = words[0] if words else "", COMMANDS if module == "broker" else _console_commands()
    yield from _unless(command in known, f"python -m {module} has no command {command}")
    if module == "broker" and command in known:
        yield from _unknown_options(command, words[1:])


def _unknown_options(command: str, words: list[str]) -> Iterator[str]:
    """Yield options that stand neither in the command's file nor in one of broker/cli that it imports."""
    file = ROOT / "broker" / "cli" / f"{command.replace('-', '_')}.py"
    folder = [
        path for name in re.findall(r"from (broker\.cli[\w.]*) import", file.read_text()) for path in _files(name)
    ]
    text = "".join(path.read_text() for path in [file, *folder])
    for word in words:
        option = word.partition("=")[0].strip("[]")
        is_known = f'"{option}"' in text or re.search(rf'Option\(\s*"{option.removeprefix("--")}"', text)
        if option.startswith("--") and not is_known:
            yield f"{command} has no option {option}"


def _files(module: str) -> list[Path]:
    path = ROOT / module.replace(".", "/")
    return [*path.glob("*.py")] if path.is_dir() else [path.with_suffix(".py")]


def _problems_of_kafka(name: str, words: list[str]) -> Iterator[str]:
    if any(word in ("…", "--help") for word in words):
        return
    try:
        parse(load(name), words)
    except CommandError as error:
        yield f"{name}: {error}"


def _console_commands() -> set[str]:
    own = (ROOT / "console").rglob("management/commands/*.py")
    return {*CONSOLE_COMMANDS, *(path.stem for path in own)}


def _is_package(module: str) -> bool:
    return (ROOT / module.replace(".", "/")).is_dir()


def _unless(holds: bool, problem: str) -> Iterator[str]:
    if not holds:
        yield problem

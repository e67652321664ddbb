"""`kafka-topics …`, `python -m broker.cli kafka-topics …`: a command by the name under which it was called."""

import sys
from pathlib import PurePath

from broker.cli.commands import ALL_NAMES, load, load_all


def main() -> int:
    """Run the command of any installed name: `kafka-topics` and `kafka-topics.sh` are one command."""
    return _run(PurePath(sys.argv[0]).name, sys.argv[1:])


def _run(name: str, typed: list[str]) -> int:
    from broker.cli.frame.running import run

    return run(load(name.removesuffix(".sh")), typed)


def _main_of_module(words: list[str]) -> int:
    from broker.cli.frame.shown import completion, markdown

    match words:
        case ["--markdown"]:
            sys.stdout.write(markdown(load_all()))
        case ["--completion", ("bash" | "zsh") as shell]:
            sys.stdout.write(completion(load_all(), shell))
        case [name, *typed] if name.removesuffix(".sh") in ALL_NAMES:
            return _run(name, typed)
        case _:
            print("usage: python -m broker.cli COMMAND …\n       python -m broker.cli --completion bash|zsh\n")
            print("\n".join(f"  {name}" for name in sorted(ALL_NAMES)))
            return 0 if words == ["--help"] else 1
    return 0


if __name__ == "__main__":
    sys.exit(_main_of_module(sys.argv[1:]))

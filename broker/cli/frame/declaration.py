"""What a command is called, takes and does, declared once. Pure.

Parsing, help, completion, COMMANDS.md and the command lines that the console shows are made of the declaration, so that
none of them can drift from the others.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from broker.common.errors import BarnabasError


class CommandError(BarnabasError):
    """The command cannot do what it was asked: one sentence for a person, told on stderr (Kafka's scripts read some on
    stdout), and the exit status, which in Kafka's tools is 1 whatever went wrong."""

    def __init__(self, sentence: str, *, status: int = 1, on_stdout: bool = False):
        super().__init__(sentence)
        self.status = status
        self.on_stdout = on_stdout


class UsageError(CommandError):
    """What was typed cannot be meant so; where the options are listed is told with it."""


@dataclass(frozen=True, slots=True)
class Option:
    """`--name VALUE`, or a flag if `value` is empty.

    `parse` makes the value of its text and raises ValueError with what is wrong. `older` are names from earlier
    generations that mean the same. An option that means nothing any more has the sentence that says so in
    `without_effect`.
    """

    name: str
    help: str
    value: str = ""
    parse: Callable[[str], Any] = str
    default: Any = None
    #: May be given several times: a list.
    repeatable: bool = False
    #: Takes all words up to the next option (argparse4j's way): a list.
    takes_rest: bool = False
    required: bool = False
    older: tuple[str, ...] = ()
    #: Stands for a value that was left out: `--compression-codec` alone.
    if_bare: str | None = None
    #: Words to choose from; shells complete them.
    choices: tuple[str, ...] = ()
    without_effect: str = ""
    #: The actions beside which it may be given; all if none are named.
    only_with: tuple[str, ...] = ()

    @property
    def is_flag(self) -> bool:
        return not self.value

    @property
    def is_list(self) -> bool:
        return self.repeatable or self.takes_rest


@dataclass(frozen=True, slots=True)
class Example:
    words: str
    meaning: str


@dataclass(frozen=True)
class Command:
    """`run` is given the Arguments and returns the exit status (None: 0); what it raises is told in one sentence."""

    name: str
    summary: str
    run: Callable[["Arguments"], int | None]
    options: tuple[Option, ...] = ()
    #: Words that are no options, in order, as `("broker_list", "topic")`; others are ignored, as jopt-simple does.
    words: tuple[str, ...] = ()
    words_required: int = 0
    #: The last of `words` may be given any number of times.
    words_repeat: bool = False
    #: What follows the last of `words` is a command of its own: it is left as it was typed, options and all.
    passes_on: bool = False
    #: Of these groups exactly one option must be given: actions.
    exactly_one_of: tuple[tuple[str, ...], ...] = ()
    #: How Kafka's tool names them where there is not exactly one; their names in order if empty.
    actions_named: str = ""
    examples: tuple[Example, ...] = ()
    #: Names under which it is found as well.
    also_called: tuple[str, ...] = ()
    #: `kafka-transactions list …`: the first word that is one of these chooses.
    subcommands: tuple["Command", ...] = ()
    #: Sentences behind the options in --help and COMMANDS.md: what differs, what to know.
    notes: tuple[str, ...] = ()
    #: A command that does something when nothing is typed; others print their help, as Kafka's do.
    runs_without_arguments: bool = False
    #: Every word is left as it was typed: for a command that passes them on.
    takes_anything: bool = False
    _by_name: dict[str, Option] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for option in self.options:
            for name in (option.name, *option.older):
                if name in self._by_name:
                    raise ValueError(f"{self.name} declares --{name} twice")
                self._by_name[name] = option

    def option(self, name: str) -> Option | None:
        """Return the option of that name, or of an older one; None if there is none."""
        return self._by_name.get(name)


class Arguments:
    """What was typed: `arguments["topic"]` is the value or the default, a list if it may be repeated, a flag's bool."""

    def __init__(self, command: Command, values: Mapping[str, Any], words: tuple[str, ...], spelled: Mapping[str, str]):
        self.command = command
        #: The words that are no options.
        self.words = words
        self._values = values
        self._spelled = spelled

    def __getitem__(self, name: str) -> Any:
        option = self.command.option(name)
        if option is None or option.name != name:
            raise KeyError(f"{self.command.name} does not declare --{name}")
        if name in self._values:
            return self._values[name]
        if option.is_flag:
            return False
        return list(option.default or ()) if option.is_list else option.default

    def given(self, name: str) -> bool:
        """Return whether it was typed, whatever its default."""
        return name in self._values

    @property
    def order(self) -> list[str]:
        """The options that were typed, each where it stood first."""
        return list(self._values)

    def spelling(self, name: str) -> str:
        """Return the name under which the option was typed, which may be an older one."""
        return self._spelled.get(name, name)


def command_line(command: Command, values: Mapping[str, Any]) -> str:
    """Return the command line to type in a shell.

    KeyError for an option that the command does not have: a plan cannot show nonsense.
    """
    parts = [command.name]
    for name, value in values.items():
        option = command.option(name)
        if option is None:
            raise KeyError(f"{command.name} does not declare --{name}")
        if option.is_flag:
            parts += [f"--{name}"] if value else []
        else:
            for entry in [value] if isinstance(value, str) or not option.is_list else value:
                parts += [f"--{name}", shlex.quote(str(entry))]
    return " ".join(parts)

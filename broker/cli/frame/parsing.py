"""Parses command lines by the rules of Kafka's own parser (jopt-simple), on which users' scripts rely. Pure.

`--name value`, `--name=value` and `-name value` are the same; names are never abbreviated; an option that takes a value
takes the next word, whatever it looks like; words that belong to nothing are ignored. argparse differs in each.
Beyond jopt-simple: an option typed with a long dash, as word processors write it, is taken for what was meant.
"""

from collections import deque
from typing import Any

from broker.cli.frame.declaration import Arguments, Command, Option, UsageError

#: En dash, em dash, minus sign, horizontal bar: what documents make of `--`.
_LONG_DASHES = "\u2013\u2014\u2212\u2015"


class ParsedOptions:
    """Collects what was typed, and the sentences to be told about it."""

    def __init__(self, command: Command):
        self.command = command
        self.values: dict[str, Any] = {}
        self.spelled: dict[str, str] = {}
        self.words: list[str] = []
        self.notices: list[str] = []

    def arguments(self) -> Arguments:
        return Arguments(self.command, self.values, tuple(self.words), self.spelled)


def parse(command: Command, typed: list[str]) -> tuple[Arguments, list[str]]:
    """Return the arguments, and what to tell about them on stderr. Raises UsageError."""
    if command.takes_anything:
        return Arguments(command, {}, tuple(typed), {}), []
    if command.subcommands:
        command, typed = _choose(command, typed)
    parsed = ParsedOptions(command)
    waiting = deque(typed)
    while waiting:
        word = waiting.popleft()
        name, separator, value = _as_option(parsed, word)
        if name:
            _take(parsed, name, value if separator else None, waiting)
        else:
            parsed.words.append(word)
            if command.passes_on and len(parsed.words) >= len(command.words):
                parsed.words += waiting
                break
    _check(parsed)
    return parsed.arguments(), parsed.notices


def _choose(command: Command, typed: list[str]) -> tuple[Command, list[str]]:
    """Return the subcommand, with the options of the command itself, wherever they stand."""
    by_name = {subcommand.name: subcommand for subcommand in command.subcommands}
    at = next((at for at, word in enumerate(typed) if word in by_name), None)
    if at is None:
        raise UsageError(f"Choose what to do: {', '.join(by_name)}.")
    chosen = by_name[typed[at]]
    whole = Command(
        name=f"{command.name} {chosen.name}",
        summary=chosen.summary,
        run=chosen.run,
        options=(*command.options, *chosen.options),
        words=chosen.words,
        words_required=chosen.words_required,
        words_repeat=chosen.words_repeat,
        exactly_one_of=(*command.exactly_one_of, *chosen.exactly_one_of),
        runs_without_arguments=True,
    )
    return whole, typed[:at] + typed[at + 1 :]


def _as_option(parsed: ParsedOptions, word: str) -> tuple[str, str, str]:
    """Name, `=` and value; no name for a word that is no option."""
    if word[:1] and word[0] in _LONG_DASHES:
        meant = "--" + word.lstrip(_LONG_DASHES + "-")
        parsed.notices.append(f"{word} is typed with a long dash; it is taken for {meant}.")
        word = meant
    if len(word) < 2 or word[0] != "-" or word == "--" or _is_number(word):
        return "", "", ""
    return word.lstrip("-").partition("=")


def _is_number(word: str) -> bool:
    return word[1:].replace(".", "", 1).isdecimal()


def _take(parsed: ParsedOptions, name: str, value: str | None, waiting: deque[str]) -> None:
    option = parsed.command.option(name)
    if option is None:
        raise UsageError(f"{name} is not a recognized option")
    parsed.spelled[option.name] = name
    if option.is_flag:
        if value is not None:
            raise UsageError(f"--{name} takes no value, but was given {value!r}")
        _keep(parsed, option, True)
    else:
        texts = [value] if value is not None else [] if option.takes_rest else [_next_word(option, name, waiting)]
        while option.takes_rest and waiting and not _begins_option(waiting[0]):
            texts.append(waiting.popleft())
        for text in texts:
            _keep(parsed, option, _value(option, name, text))
    if option.without_effect:
        parsed.notices.append(f"--{name}: {option.without_effect}")


def _next_word(option: Option, name: str, waiting: deque[str]) -> str:
    if option.if_bare is not None and (not waiting or _begins_option(waiting[0])):
        return option.if_bare
    if not waiting:
        raise UsageError(f"Option {name} requires an argument")
    return waiting.popleft()


def _begins_option(word: str) -> bool:
    return word.startswith("-") and not _is_number(word)


def _value(option: Option, name: str, text: str) -> Any:
    try:
        value = option.parse(text)
    except ValueError as error:
        # What Python says of a number is for programmers.
        is_pythons = option.parse in (int, float) or str(error).startswith(("invalid literal", "could not convert"))
        reason = "" if is_pythons else f": {error}"
        raise UsageError(f"Cannot parse argument '{text}' of option {name}{reason}") from None
    if option.choices and text not in option.choices:
        raise UsageError(f"--{name} is one of {', '.join(option.choices)}, not {text!r}")
    return value


def _keep(parsed: ParsedOptions, option: Option, value: Any) -> None:
    if option.is_list:
        parsed.values.setdefault(option.name, []).append(value)
    elif option.name in parsed.values and not option.is_flag:
        raise UsageError(f"Found multiple arguments for option {option.name}, but you asked for only one")
    else:
        parsed.values[option.name] = value


def _check(parsed: ParsedOptions) -> None:
    command = parsed.command
    for group in command.exactly_one_of:
        if sum(name in parsed.values for name in group) != 1:
            named = command.actions_named or ", ".join(f"--{name}" for name in group)
            raise UsageError(f"Command must include exactly one action: {named}")
    missing = [option.name for option in command.options if option.required and option.name not in parsed.values]
    if missing:
        raise UsageError(f'Missing required argument "[{", ".join(missing)}]"')
    _check_actions(parsed)
    if len(parsed.words) < command.words_required:
        raise UsageError(f"Missing {command.words[len(parsed.words)]}.")


def _check_actions(parsed: ParsedOptions) -> None:
    actions = [name for group in parsed.command.exactly_one_of for name in group if name in parsed.values]
    for option in parsed.command.options:
        others = [action for action in actions if option.only_with and action not in option.only_with]
        if option.name in parsed.values and others:
            raise UsageError(f'Option "[{option.name}]" can\'t be used with option "[{others[0]}]"')

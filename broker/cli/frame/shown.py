"""A declaration as people read it: --help, COMMANDS.md, and what shells complete. Pure."""

import textwrap
from collections.abc import Iterable

from broker.cli.frame.declaration import Command, Option

_WIDTH = 110
_NAMES_WIDTH = 40


def usage_line(command: Command) -> str:
    words = [f"<{word}>" if at < command.words_required else f"[{word}]" for at, word in enumerate(command.words)]
    if command.words_repeat and words:
        words[-1] += " …"
    if command.subcommands:
        words.insert(0, "{" + "|".join(subcommand.name for subcommand in command.subcommands) + "}")
    return " ".join([command.name, *(["[options]"] if command.options else []), *words])


def help_text(command: Command) -> str:
    """Return the help in the format of Kafka's tools: a sentence, a table of options, then examples."""
    lines = [command.summary, f"Usage: {usage_line(command)}", ""]
    lines += _table(command.options)
    for subcommand in command.subcommands:
        lines += [
            "",
            f"{command.name} {subcommand.name}: {subcommand.summary}",
            *_table(subcommand.options, has_head=False),
        ]
    if command.examples:
        lines += ["", "Examples:"]
        for example in command.examples:
            lines += [f"  {example.words}", f"      {example.meaning}"]
    for note in command.notes:
        lines += ["", *textwrap.wrap(note, _WIDTH)]
    return "\n".join(lines)


def _table(options: Iterable[Option], *, has_head: bool = True) -> list[str]:
    rows = [
        (option_names(option), option_meaning(option)) for option in sorted(options, key=lambda option: option.name)
    ]
    if not rows:
        return []
    width = min(_NAMES_WIDTH, max(len(names) for names, _ in rows) + 2)
    lines = [f"{'Option':<{width}}Description", f"{'------':<{width}}-----------"] if has_head else []
    for names, meaning in rows:
        wrapped = textwrap.wrap(meaning, _WIDTH - width) or [""]
        if len(names) >= width:
            lines.append(names)
        else:
            wrapped[0] = f"{names:<{width}}{wrapped[0]}"
        lines += [wrapped[0] if len(names) < width else " " * width + wrapped[0]]
        lines += [" " * width + line for line in wrapped[1:]]
    return lines


def option_names(option: Option) -> str:
    value = "" if option.is_flag else f" [{option.value}]" if option.if_bare is not None else f" <{option.value}>"
    return f"--{option.name}{value}{' …' if option.is_list else ''}"


def option_meaning(option: Option) -> str:
    meaning = option.help or f"Accepted: {option.without_effect}"
    if option.required:
        meaning = f"REQUIRED: {meaning}"
    if option.choices:
        meaning += f" One of {', '.join(option.choices)}."
    if option.default is not None and not option.is_list:
        meaning += f" (default: {option.default})"
    if option.older:
        meaning += f" Also --{', --'.join(option.older)}."
    return meaning


def markdown(commands: Iterable[Command]) -> str:
    """Return COMMANDS.md: a table of commands, then each with its options and examples."""
    commands = list(commands)
    lines = [
        "# Commands",
        "",
        "Made of the declarations in this folder (`python -m broker.cli --markdown`), and checked by a test. Each is",
        "installed under its name and its name with `.sh`, and lies in `bin/` of a checkout.",
        "",
        "| command | does |",
        "| --- | --- |",
        *(f"| [{command.name}](#{command.name.lower()}) | {command.summary} |" for command in commands),
    ]
    for command in commands:
        lines += ["", f"## {command.name}", "", command.summary, "", f"    {usage_line(command)}"]
        if command.also_called:
            lines += ["", f"Also called {', '.join(command.also_called)}."]
        lines += _markdown_options(command.options)
        for subcommand in command.subcommands:
            lines += [
                "",
                f"`{command.name} {subcommand.name}`: {subcommand.summary}",
                *_markdown_options(subcommand.options),
            ]
        for example in command.examples:
            lines += ["", f"{example.meaning}", "", f"    {example.words}"]
        for note in command.notes:
            lines += ["", note]
    return "\n".join(lines) + "\n"


def _markdown_options(options: tuple[Option, ...]) -> list[str]:
    if not options:
        return []
    rows = [
        f"| `{option_names(option)}` | {option_meaning(option)} |".replace("\n", " ")
        for option in sorted(options, key=lambda option: option.name)
    ]
    return ["", "| option | meaning |", "| --- | --- |", *rows]


def completion(commands: Iterable[Command], shell: str) -> str:
    """Return a completion script that bash or zsh sources; zsh reads bash's by bashcompinit."""
    head = ["autoload -U +X bashcompinit && bashcompinit"] if shell == "zsh" else []
    lines = [
        *head,
        "_barnabas_command() {",
        '  local last="${COMP_WORDS[COMP_CWORD-1]}" word="${COMP_WORDS[COMP_CWORD]}" words="" values=""',
        '  case "$(basename "${COMP_WORDS[0]}" .sh)" in',
    ]
    names: list[str] = []
    for command in commands:
        names += [command.name, *command.also_called]
        lines += _completion_case(command)
    lines += [
        "  esac",
        '  if [ -n "$values" ]; then COMPREPLY=($(compgen -W "$values" -- "$word"))',
        '  else COMPREPLY=($(compgen -W "$words" -- "$word")); fi',
        "}",
    ]
    lines += [f"complete -o default -F _barnabas_command {name} {name}.sh" for name in names]
    return "\n".join(lines) + "\n"


def _completion_case(command: Command) -> list[str]:
    options = [*command.options, *(option for subcommand in command.subcommands for option in subcommand.options)]
    words = [subcommand.name for subcommand in command.subcommands] + sorted({f"--{option.name}" for option in options})
    lines = [f'    {"|".join([command.name, *command.also_called])}) words="{" ".join(words)}"']
    choices = {option.name: option.choices for option in options if option.choices}
    if choices:
        lines.append('      case "$last" in')
        lines += [f'        --{name}) values="{" ".join(item)}" ;;' for name, item in sorted(choices.items())]
        lines.append("      esac")
    return [*lines, "      ;;"]

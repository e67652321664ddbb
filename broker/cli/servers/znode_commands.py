"""The commands of ZooKeeper's shell: each is given its words and a session, and returns what is printed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from broker.cli.frame.declaration import CommandError
from broker.cli.servers.znode_lines import check_path, data_text, facts_lines, names_line, refusal
from broker.zookeeper.errors import ZooKeeperError
from broker.zookeeper.session import ANY_VERSION, ZooKeeperSession

#: Kafka's scripts look for it.
NOT_FOUND_STATUS = 127


@dataclass(frozen=True, slots=True)
class ZnodeOutput:
    """Lines for a person, and the same for a program. ZooKeeper tells of a new znode on stderr."""

    lines: list[str] = field(default_factory=list)
    value: Any = None
    on_stderr: bool = False


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command's words: paths and data in order, and its options, of which -v has a value."""

    words: list[str]
    flags: frozenset[str]
    version: int


class Znodes:
    """The commands on one session, whose paths begin at `chroot`."""

    def __init__(self, session: ZooKeeperSession, chroot: str = ""):
        self._session = session
        self._chroot = chroot

    def at(self, path: str) -> str:
        """Return the znode's path in ZooKeeper. Raises CommandError for an invalid path."""
        check_path(path)
        return f"{self._chroot}{path}" if path != "/" else self._chroot or "/"

    async def ls(self, typed: TypedCommand) -> ZnodeOutput:
        (path,) = typed.words
        if "R" in typed.flags:
            tree = await self._tree(path)
            return ZnodeOutput(tree, tree)
        names = await self._session.children(self.at(path))
        return await self._with_facts([names_line(names)], sorted(names), path, typed)

    async def get(self, typed: TypedCommand) -> ZnodeOutput:
        (path,) = typed.words
        text = data_text((await self._session.get(self.at(path))).data)
        return await self._with_facts([text], text, path, typed)

    async def stat(self, typed: TypedCommand) -> ZnodeOutput:
        facts = await self._session.facts(self.at(typed.words[0]))
        return ZnodeOutput(facts_lines(facts), facts._asdict())

    async def create(self, typed: TypedCommand) -> ZnodeOutput:
        path, *data = typed.words
        created = await self._session.create(
            self.at(path),
            data[0].encode() if data else None,
            ephemeral="e" in typed.flags,
            sequential="s" in typed.flags,
        )
        shown = created.removeprefix(self._chroot)
        return ZnodeOutput([f"Created {shown}"], shown, on_stderr=True)

    async def set(self, typed: TypedCommand) -> ZnodeOutput:
        path, data = typed.words
        await self._session.set(self.at(path), data.encode(), typed.version)
        return await self._with_facts([], None, path, typed)

    async def delete(self, typed: TypedCommand) -> ZnodeOutput:
        await self._session.delete(self.at(typed.words[0]), typed.version)
        return ZnodeOutput()

    async def delete_all(self, typed: TypedCommand) -> ZnodeOutput:
        for path in reversed(await self._tree(typed.words[0])):
            await self._session.delete(self.at(path))
        return ZnodeOutput()

    async def count(self, typed: TypedCommand) -> ZnodeOutput:
        below = len(await self._tree(typed.words[0])) - 1
        return ZnodeOutput([str(below)], below)

    async def sync(self, typed: TypedCommand) -> ZnodeOutput:
        await self._session.sync(self.at(typed.words[0]))
        return ZnodeOutput(["Sync is OK"])

    async def add_auth(self, typed: TypedCommand) -> ZnodeOutput:
        scheme, credential = typed.words
        await self._session.show_as(scheme, credential)
        return ZnodeOutput()

    async def _tree(self, path: str) -> list[str]:
        """Return the znode and all below it, parents first, in the order of their names."""
        paths, waiting = [], [path]
        while waiting:
            path = waiting.pop()
            paths.append(path)
            names = await self._session.children(self.at(path))
            waiting += [f"{path.rstrip('/')}/{name}" for name in reversed(names)]
        return paths

    async def _with_facts(self, lines: list[str], value: Any, path: str, typed: TypedCommand) -> ZnodeOutput:
        if "s" not in typed.flags:
            return ZnodeOutput(lines, value)
        facts = await self._session.facts(self.at(path))
        return ZnodeOutput([*lines, *facts_lines(facts)], {"value": value, **facts._asdict()})


@dataclass(frozen=True, slots=True)
class Shape:
    """How a command is typed: flags of one letter, and from how many to how many words."""

    usage: str
    run: Callable[[Znodes, TypedCommand], Awaitable[ZnodeOutput]]
    flags: str = ""
    words: tuple[int, int] = (1, 1)
    has_version: bool = False


SHAPES: dict[str, Shape] = {
    "addauth": Shape("addauth scheme auth", Znodes.add_auth, words=(2, 2)),
    "create": Shape("create [-s] [-e] path [data]", Znodes.create, "se", (1, 2)),
    "delete": Shape("delete [-v version] path", Znodes.delete, has_version=True),
    "deleteall": Shape("deleteall path", Znodes.delete_all),
    "get": Shape("get [-s] path", Znodes.get, "sw"),
    "getAllChildrenNumber": Shape("getAllChildrenNumber path", Znodes.count),
    "ls": Shape("ls [-s] [-R] path", Znodes.ls, "swR"),
    "set": Shape("set path data [-s] [-v version]", Znodes.set, "s", (2, 2), has_version=True),
    "stat": Shape("stat path", Znodes.stat, "w"),
    "sync": Shape("sync path", Znodes.sync),
}
#: Names that ZooKeeper 3.4 had for the same.
_OLDER = {"ls2": ("ls", "-s"), "rmr": ("deleteall",)}


def usage() -> str:
    head = "ZooKeeper -server host:port -client-configuration properties-file cmd args"
    own = {"help": "help", "history": "history", "quit": "quit"}
    usages = {**{name: shape.usage for name, shape in SHAPES.items()}, **own}
    return "\n".join([head, *(f"\t{usages[name]}" for name in sorted(usages))])


async def answer(znodes: Znodes, words: list[str]) -> ZnodeOutput:
    """Run the command and return its output. Raises CommandError, with status 127 for an unknown command."""
    name, *rest = [*_OLDER.get(words[0], (words[0],)), *words[1:]]
    shape = SHAPES.get(name)
    if shape is None:
        raise CommandError(f"{usage()}\nCommand not found: Command not found {name}", status=NOT_FOUND_STATUS)
    typed = _typed(shape, rest)
    try:
        return await shape.run(znodes, typed)
    except ZooKeeperError as error:
        raise refusal(error, typed.words[0]) from None


def _typed(shape: Shape, words: list[str]) -> TypedCommand:
    kept, flags, version = [], set(), ANY_VERSION
    waiting = iter(words)
    for word in waiting:
        if word == "-v" and shape.has_version:
            version = _number(shape, next(waiting, ""))
        elif len(word) > 1 and word[0] == "-" and set(word[1:]) <= set(shape.flags):
            flags |= set(word[1:])
        else:
            kept.append(word)
    fewest, most = shape.words
    if not fewest <= len(kept) <= most:
        raise CommandError(shape.usage)
    return TypedCommand(kept, frozenset(flags), version)


def _number(shape: Shape, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandError(f"{text!r} is no version\n{shape.usage}") from None

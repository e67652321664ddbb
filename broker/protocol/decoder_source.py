"""Writes the decoder of one message in one version as one straight-line function.

What makes it fast: neighbouring fields of fixed width are read by one `unpack_from` straight into the object's slots;
the length (or the count of tagged fields) that follows them rides along in the same call as one more byte; nested
structs are loops in the same function, not calls. Messages without byte fields are decoded from `bytes`, others from a
memoryview so that their byte fields are slices of the frame.
"""

from collections.abc import Callable, Generator
from functools import cache
from struct import Struct as Layout
from struct import calcsize
from typing import Any

from broker.common.limits import ENTRIES_DECODED_IN_A_TURN
from broker.protocol import primitives
from broker.protocol.primitives import WIDTHS, Array, Primitive, bytes_, records, string, uuid
from broker.protocol.schema import Declaration, Versioned, WireField
from broker.protocol.source import SourceWriter, function_name

#: Integer arrays up to this length (replica lists, mostly) are read by a layout found in a table.
_SHORT_ARRAY_MAX = 16
_SHORT_ARRAYS = {
    code: tuple(Layout(f">{count}{code}").unpack_from for count in range(_SHORT_ARRAY_MAX + 1)) for code in WIDTHS
}


def compile_decoder(
    message: type[Versioned], version: int, ignore_rest: bool, entries_max: int | None = None
) -> Callable[[Any, int], Versioned]:
    """A function of a buffer and the place where the message begins that returns the message.

    With `ignore_rest` there may be bytes behind the message. `entries_max` bounds the elements of all arrays together,
    with the tagged fields: what is too many is refused before it is read. On malformed input it raises ProtocolError,
    struct.error, IndexError or UnicodeDecodeError.
    """
    writer = _DecoderSource(message, version, ignore_rest, entries_max)
    writer.write()
    decode: Callable[[Any, int], Versioned] = writer.load(f"decoder of {message.__name__} version {version}")["decode"]
    return decode


def compile_stepwise_decoder(
    message: type[Versioned], version: int, ignore_rest: bool, entries_max: int | None = None
) -> Callable[[Any, int], Generator[None, None, Versioned]]:
    """The same as a generator that pauses after every ENTRIES_DECODED_IN_A_TURN elements and returns the message.

    Integers are no elements: an array of them is read at once, some 20 ns each.
    """
    writer = _DecoderSource(message, version, ignore_rest, entries_max, in_steps=True)
    writer.write()
    decode: Callable[[Any, int], Generator[None, None, Versioned]]
    decode = writer.load(f"decoder in steps of {message.__name__} version {version}")["decode"]
    return decode


def has_bytes(struct: Any, version: int) -> bool:
    """Return whether messages of this version hold byte fields."""
    kinds = (_element(field.type) for field in struct.fields if field.exists_in(version))
    return any(
        kind in (bytes_, records) or (isinstance(kind, Declaration) and has_bytes(kind, version)) for kind in kinds
    )


def wire_bytes_min(kind: Any, version: int, flexible: bool, nullable: bool = False) -> int:
    """Return the fewest bytes a value takes: bounds how many elements an array can truthfully announce."""
    if isinstance(kind, Array):
        return 1 if flexible else 4
    if isinstance(kind, Primitive):
        if kind.layout:
            return calcsize(">" + kind.layout)
        return 1 if flexible else 2 if kind is string else 4
    if nullable:
        return 1
    present = (field for field in kind.fields if field.exists_in(version) and field.tag is None)
    return flexible + sum(wire_bytes_min(f.type, version, flexible, f.nullable_in(version)) for f in present)


@cache
def _run_reader(code: str) -> Callable[..., tuple[Any, ...]]:
    return Layout(">" + code).unpack_from


def _element(kind: Any) -> Any:
    return kind.element if isinstance(kind, Array) else kind


class _DecoderSource(SourceWriter):
    def __init__(
        self,
        message: type[Versioned],
        version: int,
        ignore_rest: bool,
        entries_max: int | None,
        *,
        in_steps: bool = False,
    ):
        super().__init__(
            new=object.__new__,
            read_uvarint=primitives.read_uvarint,
            read_compact_length=primitives.read_compact_length,
            read_integers=primitives.read_integers,
            refuse_length=primitives.refuse_length,
            refuse_count=primitives.refuse_count,
            refuse_entries=primitives.refuse_entries,
            refuse_size=primitives.refuse_size,
            refuse_tag_size=primitives.refuse_tag_size,
            read_tag_count=primitives.read_tag_count,
            skip_tagged_fields=primitives.skip_tagged_fields,
            uuid_from_bytes=primitives.uuid_from_bytes,
            ZERO_UUID=primitives.ZERO_UUID,
        )
        self._message = message
        self._version = version
        self._ignore_rest = ignore_rest
        self._entries_max = entries_max
        self._flexible = message.is_flexible(version)
        self._has_bytes = has_bytes(message, version)
        self._to_text = 'str(data[at:end], "utf-8")' if self._has_bytes else "data[at:end].decode()"
        #: Fixed-width reads not yet written: (where the value goes, its layout).
        self._run: list[tuple[str, str]] = []
        self._tag_readers: list[tuple[str, Any]] = []
        self._in_steps = in_steps

    def write(self) -> None:
        with self.block("def decode(data, at):"):
            self.line("data = memoryview(data)" if self._has_bytes else "data = bytes(data)")
            self.line("size = len(data)")
            self._begin_counting()
            if self._in_steps:
                self.line(f"left = {ENTRIES_DECODED_IN_A_TURN}")
                self.line("if not left: yield")  # whatever follows, it is a generator
            self._struct(self._message, "o", depth=0)
            self._flush()
            with self.block("if at > size:" if self._ignore_rest else "if at != size:"):
                self.line("refuse_size(at, size)")
            self.line("return o")
        self._in_steps = False  # what is in tagged fields is little
        while self._tag_readers:
            self._tag_reader(*self._tag_readers.pop())

    # -- structs ------------------------------------------------------------------------------------------------------

    def _struct(self, struct: Any, target: str, depth: int) -> None:
        self.line(f"{target} = new({self.name(struct.__name__, struct)})")
        present = [field for field in struct.fields if field.exists_in(self._version)]
        for field in struct.fields:
            if field.tag is not None or not field.exists_in(self._version):
                self.line(f"{target}.{field.name} = {self._default(field)}")
        for field in present:
            if field.tag is None:
                self._value(field.type, f"{target}.{field.name}", field.nullable_in(self._version), depth, field.name)
        if self._flexible:
            self._tagged_section(struct, target, any(field.tag is not None for field in present))

    def _default(self, field: WireField) -> str:
        if not field.has_fresh_default:
            return "ZERO_UUID" if field.type is uuid else repr(field.default)
        return "[]" if isinstance(field.type, Array) else f"{self.name(field.type.__name__, field.type)}()"

    def _tagged_section(self, struct: Any, target: str, has_tags: bool) -> None:
        self._run.append(("n", "B"))
        self._flush()
        with self.block("if n:"):
            self._count_entries()
            if not has_tags:
                self.line("at = skip_tagged_fields(data, at - 1)")
                return
            reader = f"read_tags_of_{struct.__name__}"
            self.line(f"at = {reader}(data, at - 1, {target})")
            self._tag_readers.append((reader, struct))

    def _tag_reader(self, name: str, struct: Any) -> None:
        tagged = [field for field in struct.fields if field.tag is not None and field.exists_in(self._version)]
        with self.block(f"def {name}(data, at, o):"):
            self.line("size = len(data)")
            self._begin_counting()
            self.line("count, at = read_tag_count(data, at)")
            with self.block("for _ in range(count):"):
                self.line("tag, at = read_uvarint(data, at)")
                self.line("length, at = read_uvarint(data, at)")
                self.line("stop = at + length")
                for index, field in enumerate(tagged):
                    with self.block(f"{'elif' if index else 'if'} tag == {field.tag}:"):
                        self._value(field.type, f"o.{field.name}", field.nullable_in(self._version), 0, field.name)
                        self._flush()
                        with self.block("if at != stop:"):
                            self.line("refuse_tag_size(tag, length)")
                with self.block("else:"):
                    self.line("at = stop")
            self.line("return at")

    # -- values -------------------------------------------------------------------------------------------------------

    def _value(self, kind: Any, target: str, nullable: bool, depth: int, what: str) -> None:
        if isinstance(kind, Primitive) and kind.layout:
            self._run.append((target, kind.layout))
        elif isinstance(kind, Primitive):
            self._length("h" if kind is string else "i", target, nullable, what, lambda: self._slice(kind, target))
        elif isinstance(kind, Array):
            self._length("i", target, nullable, what, lambda: self._array(kind.element, target, depth + 1, what))
        elif nullable:
            self._nullable_struct(kind, target, depth + 1)
        else:
            self._nested_struct(kind, target, depth + 1)

    def _length(self, code: str, target: str, nullable: bool, what: str, body: Callable[[], None]) -> None:
        """Read a length or count into `n` (plus one if flexible), then the body, or None where null is legal."""
        self._run.append(("n", "B" if self._flexible else code))
        self._flush()
        if self._flexible and not nullable:
            with self.block("if not 0 < n < 128:"):
                self.line(f"n, at = read_compact_length(data, at - 1, {what!r})")
            body()
            return
        if self._flexible:
            self._long_length()
        else:
            with self.block("if n < -1:" if nullable else "if n < 0:"):
                self.line(f"refuse_length(n, {what!r})")
        if not nullable:
            body()
            return
        with self.block(f"if n == {0 if self._flexible else -1}:"):
            self.line(f"{target} = None")
        with self.block("else:"):
            body()

    def _long_length(self) -> None:
        """Read a varint whose first byte is `n`. Two bytes are read in place: most record batches have so many."""
        with self.block("if n > 127:"):
            self.line("high = data[at]")
            with self.block("if high < 128:"):
                self.line("n += (high << 7) - 128; at += 1")
            with self.block("else:"):
                self.line("n, at = read_uvarint(data, at - 1)")

    def _slice(self, kind: Primitive, target: str) -> None:
        self.line(f"end = at + n{' - 1' if self._flexible else ''}")
        self.line(f"{target} = {self._to_text if kind is string else 'data[at:end]'}")
        self.line("at = end")

    def _array(self, element: Any, target: str, depth: int, what: str) -> None:
        if self._flexible:
            self.line("n -= 1")
        self._count_entries()
        if isinstance(element, Primitive) and element.layout in WIDTHS:
            self._integers(element.layout, target, what)
            return
        least = wire_bytes_min(element, self._version, self._flexible)
        with self.block(f"if n * {least} > size - at:" if least > 1 else "if n > size - at:"):
            self.line(f"refuse_count(n, {what!r})")
        self.line(f"{target} = a{depth} = []")
        with self.block("for _ in range(n):"):
            if isinstance(element, Primitive):
                self._value(element, f"o{depth}", False, depth, what)
            else:
                self._struct(element, f"o{depth}", depth)
            self._flush()
            self.line(f"a{depth}.append(o{depth})")
            if self._in_steps:
                self.line("left -= 1")
                with self.block("if not left:"):
                    self.line("yield")
                    self.line(f"left = {ENTRIES_DECODED_IN_A_TURN}")

    def _begin_counting(self) -> None:
        if self._entries_max is not None:
            self.line(f"entries_left = {self._entries_max}")

    def _count_entries(self) -> None:
        if self._entries_max is not None:
            self.line("entries_left -= n")
            with self.block("if entries_left < 0:"):
                self.line(f"refuse_entries({self._entries_max})")

    def _integers(self, code: str, target: str, what: str) -> None:
        short = self.name(f"read_{code}", _SHORT_ARRAYS[code])
        with self.block(f"if n <= {_SHORT_ARRAY_MAX}:"):
            self.line(f"{target} = list({short}[n](data, at))")
            self.line(f"at += n * {WIDTHS[code]}")
        with self.block("else:"):
            self.line(f"{target}, at = read_integers(data, at, n, {code!r}, {what!r})")

    def _nullable_struct(self, struct: Any, target: str, depth: int) -> None:
        """Read a byte, -1 for null and 1 for present, before the struct (KIP-893)."""
        self._run.append(("n", "b"))
        self._flush()
        with self.block("if n == -1:"):
            self.line(f"{target} = None")
        with self.block("else:"):
            self._nested_struct(struct, target, depth)
            self._flush()

    def _nested_struct(self, struct: Any, target: str, depth: int) -> None:
        self._struct(struct, f"o{depth}", depth)
        self.line(f"{target} = o{depth}")

    # -- runs of fixed width ------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Write the pending fixed-width reads as one."""
        if not self._run:
            return
        targets = ", ".join(target for target, _ in self._run)
        code = "".join(layout for _, layout in self._run)
        if code == "B":
            self.line(f"{targets} = data[at]")
        else:
            read = self.name(function_name("read", code), _run_reader(code))
            self.line(f"{targets}{',' if len(self._run) == 1 else ''} = {read}(data, at)")
        self.line(f"at += {calcsize('>' + code)}")
        for target, layout_code in self._run:
            if layout_code == "16s":
                self.line(f"{target} = uuid_from_bytes({target})")
        self._run.clear()

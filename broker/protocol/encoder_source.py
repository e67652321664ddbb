"""Writes the encoder of one message in one version as one straight-line function.

A second one of the same declaration stops between the elements of arrays now and then: a long answer is not encoded in
one go. It asks an array for its length and once for its elements, so that they may be made as they are needed.

The function appends pieces to a list, which the caller joins once: byte fields are never copied on the way.
Neighbouring fields of fixed width become one `pack` call, together with the length or count that follows them when it
fits one byte and with the empty tagged-field section that ends most structs.
"""

from collections.abc import Callable, Generator
from functools import cache
from struct import Struct as Layout
from typing import Any

from broker.common.limits import ENTRIES_ENCODED_IN_A_TURN
from broker.protocol import primitives
from broker.protocol.primitives import WIDTHS, Array, Primitive, string, uuid
from broker.protocol.schema import Versioned, WireField
from broker.protocol.source import SourceWriter, function_name

#: Integer arrays up to this length (replica lists, mostly) are written by a layout found in a table.
_SHORT_ARRAY_MAX = 16
_SHORT_ARRAYS = {
    code: tuple(Layout(f">{count}{code}").pack for count in range(_SHORT_ARRAY_MAX + 1)) for code in WIDTHS
}

#: `struct` character of a zero byte that takes no argument: an empty section of tagged fields.
_NO_TAGS = "x"


def compile_encoder(message: type[Versioned], version: int) -> Callable[[Versioned, Callable[[Any], None]], None]:
    """A function of a message and of `append`, which it calls with bytes-like pieces in order.

    On a message that does not fit its declaration it raises ProtocolError, struct.error, TypeError or AttributeError.
    """
    writer = _EncoderSource(message, version)
    writer.write()
    encode: Callable[[Versioned, Callable[[Any], None]], None]
    encode = writer.load(f"encoder of {message.__name__} version {version}")["encode"]
    return encode


def compile_stepwise_encoder(
    message: type[Versioned], version: int
) -> Callable[[Versioned, Callable[[Any], None]], Generator[None, None, bool]]:
    """The same in steps; at the end it returns whether an `error_code` in the message was other than NONE."""
    writer = _EncoderSource(message, version, in_steps=True)
    writer.write()
    encode: Callable[[Versioned, Callable[[Any], None]], Generator[None, None, bool]]
    encode = writer.load(f"stepwise encoder of {message.__name__} version {version}")["encode"]
    return encode


@cache
def _run_writer(code: str) -> Callable[..., bytes]:
    return Layout(">" + code).pack


class _EncoderSource(SourceWriter):
    def __init__(self, message: type[Versioned], version: int, *, in_steps: bool = False):
        super().__init__(
            uvarint=primitives.uvarint,
            short_uvarints=primitives.SHORT_UVARINTS,
            write_integers=primitives.write_integers,
            tagged_field=primitives.tagged_field,
            refuse_absent=primitives.refuse_absent,
            ZERO_UUID=primitives.ZERO_UUID,
        )
        self._message = message
        self._version = version
        self._flexible = message.is_flexible(version)
        #: Fixed-width values not yet written: (expression or None for padding, layout).
        self._run: list[tuple[str | None, str]] = []
        self._tag_writers: list[tuple[str, list[WireField]]] = []
        self._in_steps = in_steps

    def write(self) -> None:
        with self.block("def encode(o, append):"):
            if self._in_steps:
                self.line(f"error_code = 0; left = {ENTRIES_ENCODED_IN_A_TURN}")
                self.line("if not left: yield")  # whatever follows, it is a generator
            self._struct(self._message, "o", depth=0)
            self._flush()
            self.line("return error_code" if self._in_steps else "return")
        self._in_steps = False  # what is in tagged fields is little
        while self._tag_writers:
            self._tag_writer(*self._tag_writers.pop())

    # -- structs ------------------------------------------------------------------------------------------------------

    def _struct(self, struct: Any, source: str, depth: int) -> None:
        present = [field for field in struct.fields if field.exists_in(self._version)]
        for field in struct.fields:
            if not field.ignorable and not field.exists_in(self._version):
                with self.block(f"if not ({self._is_default(field, source, depth)}):"):
                    self.line(f"refuse_absent({struct.__name__ + '.' + field.name!r})")
        for field in present:
            if self._in_steps and field.name == "error_code":
                self.line(f"if {source}.error_code: error_code = error_code or {source}.error_code")
            if field.tag is None:
                self._value(field.type, f"{source}.{field.name}", field.nullable_in(self._version), depth)
        if self._flexible:
            tagged = sorted((field for field in present if field.tag is not None), key=lambda field: field.tag)
            self._tagged_section(struct, tagged, source, depth)

    def _is_default(self, field: WireField, source: str, depth: int) -> str:
        """Return an expression that is true if the field holds its default."""
        value = f"{source}.{field.name}"
        if not field.has_fresh_default:
            if field.default is None:
                return f"{value} is None"
            return f"{value} == {'ZERO_UUID' if field.type is uuid else repr(field.default)}"
        if isinstance(field.type, Array):
            return f"{value} is not None and not len({value})" if field.nullable_since is not None else f"not {value}"
        return " and ".join(f"({self._is_default(inner, value, depth)})" for inner in field.type.fields)

    def _tagged_section(self, struct: Any, tagged: list[WireField], source: str, depth: int) -> None:
        if not tagged:
            self._run.append((None, _NO_TAGS))
            return
        run = list(self._run)
        with self.block("if " + " and ".join(f"({self._is_default(field, source, depth)})" for field in tagged) + ":"):
            self._run.append((None, _NO_TAGS))
            self._flush()
        with self.block("else:"):
            self._run = run
            self._flush()
            writer = f"write_tags_of_{struct.__name__}"
            self.line(f"{writer}({source}, append)")
            self._tag_writers.append((writer, tagged))

    def _tag_writer(self, name: str, tagged: list[WireField]) -> None:
        with self.block(f"def {name}(o, append_section):"):
            self.line("tags = []")
            for field in tagged:
                with self.block(f"if not ({self._is_default(field, 'o', 0)}):"):
                    self.line("parts = []")
                    self.line("append = parts.append")
                    self._value(field.type, f"o.{field.name}", field.nullable_in(self._version), 0)
                    self._flush()
                    self.line(f"tags.append(tagged_field({field.tag}, parts))")
            self.line("append_section(uvarint(len(tags)) + b''.join(tags))")

    # -- values -------------------------------------------------------------------------------------------------------

    def _value(self, kind: Any, source: str, nullable: bool, depth: int) -> None:
        if isinstance(kind, Primitive) and kind.layout:
            self._run.append((f"{source}.bytes" if kind is uuid else source, kind.layout))
        elif isinstance(kind, Primitive):
            self._slice(kind, source, nullable)
        elif isinstance(kind, Array):
            self._array(kind.element, source, nullable, depth + 1)
        elif nullable:
            self._nullable_struct(kind, source, depth + 1)
        else:
            self._struct(kind, source, depth)

    def _slice(self, kind: Primitive, source: str, nullable: bool) -> None:
        """Write code that puts a string's or bytes' value into `s` and its length into `n`."""
        extra = " + 1" if self._flexible else ""
        value = f"{source}.encode()" if kind is string else source
        if nullable:
            self.line(f"s = {source}")
            with self.block("if s is None:"):
                self.line(f"s = b''; n = {0 if self._flexible else -1}")
            with self.block("else:"):
                if kind is string:
                    self.line("s = s.encode()")
                self.line(f"n = len(s){extra}")
        else:
            self.line(f"s = {value}")
            self.line(f"n = len(s){extra}")
        self._flush_with_length("h" if kind is string else "i")
        self.line("append(s)")

    def _array(self, element: Any, source: str, nullable: bool, depth: int) -> None:
        values = f"a{depth}"
        extra = " + 1" if self._flexible else ""
        self.line(f"{values} = {source}")
        if nullable:
            with self.block(f"if {values} is None:"):
                self.line(f"{values} = (); n = {0 if self._flexible else -1}")
            with self.block("else:"):
                self.line(f"n = len({values}){extra}")
        else:
            self.line(f"n = len({values}){extra}")
        self._flush_with_length("i")
        if isinstance(element, Primitive) and element.layout in WIDTHS:
            self._integers(element.layout, values)
            return
        with self.block(f"for o{depth} in {values}:"):
            self._value(element, f"o{depth}", False, depth)
            self._flush()
            if self._in_steps:
                self.line("left -= 1")
                with self.block("if not left:"):
                    self.line("yield")
                    self.line(f"left = {ENTRIES_ENCODED_IN_A_TURN}")

    def _integers(self, code: str, values: str) -> None:
        short = self.name(f"write_each_{code}", _SHORT_ARRAYS[code])
        self.line(f"n = len({values})")
        self.line(f"append({short}[n](*{values}) if n <= {_SHORT_ARRAY_MAX} else write_integers({values}, {code!r}))")

    def _nullable_struct(self, struct: Any, source: str, depth: int) -> None:
        """Write a byte, -1 for null and 1 for present, before the struct (KIP-893)."""
        run = list(self._run)
        with self.block(f"if {source} is None:"):
            self._run.append(("-1", "b"))
            self._flush()
        with self.block("else:"):
            self._run = [*run, ("1", "b")]
            self._struct(struct, source, depth)
            self._flush()

    # -- runs of fixed width ------------------------------------------------------------------------------------------

    def _flush_with_length(self, code: str) -> None:
        """Write the run and then `n`: together, unless `n` is a varint of several bytes."""
        if not self._flexible:
            self._run.append(("n", code))
            self._flush()
            return
        if not self._run:
            self.line("append(short_uvarints[n] if n < 128 else uvarint(n))")
            return
        run = list(self._run)
        with self.block("if n < 128:"):
            self._run.append(("n", "B"))
            self._flush()
        with self.block("else:"):
            self._run = run
            self._flush()
            self.line("append(uvarint(n))")

    def _flush(self) -> None:
        """Write the pending fixed-width values as one piece."""
        if not self._run:
            return
        code = "".join(layout for _, layout in self._run)
        values = ", ".join(value for value, _ in self._run if value is not None)
        if code == _NO_TAGS:
            self.line("append(b'\\x00')")
        else:
            self.line(f"append({self.name(function_name('write', code), _run_writer(code))}({values}))")
        self._run = []

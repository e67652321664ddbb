"""Generated .proto files: what a text may hold that a printer may lose, and names that hide one another."""

import hypothesis.strategies as st

#: Components of packages, names of types and fields: few, so that they hide one another.
WORDS = ("a", "b", "confluent", "google", "Opt", "x")
SCALARS = ("int32", "sint64", "fixed32", "bool", "string", "bytes", "double", "float", "uint64")
#: A proto file of custom options for every kind of element, of every type.
OPTIONS = """syntax = "proto2";
package {package};
import "google/protobuf/descriptor.proto";
message Deep {{ optional string s = 1; repeated int32 n = 2; optional Deep d = 3; optional bytes y = 4;
  optional double f = 5; map<string, int32> m = 6; enum Color {{ RED = 0; BLUE = -1; }} optional Color c = 7; }}
"""
KINDS = {
    "file": "FileOptions", "message": "MessageOptions", "field": "FieldOptions", "oneof": "OneofOptions",
    "enum": "EnumOptions", "value": "EnumValueOptions", "service": "ServiceOptions", "method": "MethodOptions",
}  # fmt: skip
VALUES = {
    "deep": ("Deep", ('{ s: "x\\n\\"\\303\\244" n: 1 n: -2 d { f: 1e30 } }',
                      '{ y: "\\000\\377" m { key: "k" value: 3 } }',
                      "{ c: BLUE f: -inf }")),
    "text": ("string", ('"plain"', '"q\\"\\\\\\n\\t"', '"ü€"', '""')),
    "raw": ("bytes", ('"\\001\\377"', '"a"')),
    "real": ("double", ("1.5", "-2e-9", "1e300", "inf", "nan")),
    "small": ("float", ("0.1", "-3")),
    "count": ("int64", ("-9223372036854775808", "7")),
    "is": ("bool", ("true", "false")),
    "color": ("Deep.Color", ("RED", "BLUE")),
}  # fmt: skip


def options_file(package):
    """Return the text that defines every option of VALUES for every kind of element, named `kind_value`."""
    number = 50_000
    lines = [OPTIONS.format(package=package)]
    for kind, of in KINDS.items():
        lines.append(f"extend google.protobuf.{of} {{")
        for name, (type_, _) in VALUES.items():
            number += 1
            lines.append(f"  optional {type_} {kind}_{name} = {number};")
        lines.append("}")
    return "\n".join(lines)


class ProtoWriter:
    """Draws the text of one file that uses the options of `package`."""

    def __init__(self, draw, package, syntax):
        self.draw, self.package, self.syntax, self.number = draw, package, syntax, 0

    def next(self):
        self.number += 1
        return self.number

    def pick(self, *values):
        return self.draw(st.sampled_from(values))

    def many(self, least, most):
        return range(self.draw(st.integers(least, most)))

    def option(self, kind):
        name = self.pick(*VALUES)
        return f"(.{self.package}.{kind}_{name}) = {self.pick(*VALUES[name][1])}"

    def statement(self, kind):
        return f"option {self.option(kind)};" if self.pick(True, False) else ""

    def brackets(self, kind, *more):
        options = {self.option(kind).partition(" = ")[0]: self.option(kind) for _ in self.many(0, 1)}.values()
        parts = [*more, *options]
        return f" [{', '.join(parts)}]" if parts else ""

    def field(self, name):
        label = self.pick("optional ", "repeated ", "required " if self.syntax == "proto2" else "")
        more = [self.pick("deprecated = true", 'json_name = "odd"', "deprecated = false")] if self.pick(0, 1) else []
        kind = self.pick(*SCALARS)
        if self.syntax == "proto2" and label == "optional " and self.pick(True, False):
            values = {
                "string": '"q\\"\\303\\244"',
                "bytes": '"\\001\\377"',
                "bool": "true",
                "double": "-inf",
                "float": "1e10",
            }
            more.append(f"default = {values.get(kind, '5')}")
        return f"{label}{kind} {name} = {self.next()}{self.brackets('field', *more)};"

    def message(self, name, depth):
        lines = [f"message {name} {{", self.statement("message")]
        names = iter(self.draw(st.permutations(WORDS)))
        lines += [self.field(next(names)) for _ in self.many(0, 2)]
        if self.pick(True, False):
            lines.append(f"map<{self.pick('string', 'int32')}, {self.pick(*SCALARS)}> {next(names)} = {self.next()};")
        if self.pick(True, False):
            lines += [f"oneof {next(names)} {{", self.statement("oneof")]
            lines.append(f"{self.pick(*SCALARS)} in_{self.next()} = {self.number}{self.brackets('field')}; }}")
        if self.syntax == "proto2" and self.pick(True, False):
            number = self.next()
            lines.append(f"{self.pick('optional', 'repeated')} group G{number} = {number} {{ optional int32 g = 1; }}")
            lines.append("extensions 900 to max;")
        elif self.pick(True, False):
            lines.append('reserved 800, 810 to 820, 1000 to max; reserved "gone", "old";')
        if depth and self.pick(True, False):
            lines.append(self.message(next(names), depth - 1))
        if self.pick(True, False):
            lines.append(self.enum(next(names)))
        return "\n".join((*lines, "}"))

    def enum(self, name):
        values = [f"V{self.next()} = {at}{self.brackets('value')};" for at in (0, -3, 2147483647)]
        return f"enum {name} {{ {self.statement('enum')} {' '.join(values)} reserved 5 to 7; }}"

    def file(self, package):
        names = list(self.draw(st.permutations(WORDS)))
        lines = [f'syntax = "{self.syntax}";', f"package {package};", 'import "options.proto";', self.statement("file")]
        lines += [self.message(names.pop(), 2) for _ in self.many(1, 2)]
        lines.append(self.enum(names.pop()))
        of_method = self.statement("method")
        lines.append(f"message In {{}} service S{self.next()} {{ {self.statement('service')} rpc Do (In) "
                     f"returns (stream In) {f'{{ {of_method} }}' if of_method else ';'} }}")  # fmt: skip
        return "\n".join(lines)


@st.composite
def protos(draw):
    """Draw the package of the options, and the text of a file that uses them."""
    words = st.lists(st.sampled_from(WORDS[:4]), min_size=1, max_size=3, unique=True)
    of_options = ".".join(draw(words))
    package = ".".join(draw(st.lists(st.sampled_from((*WORDS[:4], "io")), min_size=1, max_size=4, unique=True)))
    writer = ProtoWriter(draw, of_options, draw(st.sampled_from(("proto2", "proto3"))))
    return of_options, writer.file(package)

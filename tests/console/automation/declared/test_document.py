"""Files of strangers as trees that know their lines."""

import pytest

from console.automation.declared.document import NODES_MAX, DocumentError, DocumentTable, Scalar, Sequence, documents


def plain(node):
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {name: plain(item.value) for name, item in node.entries.items()}


def read(text):
    return [plain(document) for document in documents(text)]


def test_what_is_written_stays_as_it_was_written():
    text = "country: no\nport: 0127\ntime: 12:30\nrate: 1_000\nsize: 1.50\non: 'null'\nnone: null\nempty:\n"
    assert read(text) == [
        {
            "country": "no", "port": "0127", "time": "12:30", "rate": "1_000", "size": "1.50",
            "on": "null", "none": None, "empty": None,
        }
    ]  # fmt: skip


def test_lines_are_those_of_the_file():
    (table,) = documents("a: 1\nb:\n  - x\n  - y: 2\n")
    assert (table.entries["a"].line, table.entries["b"].line) == (1, 2)
    assert [item.line for item in table.entries["b"].value.items] == [3, 4]


def test_json_is_yaml():
    assert read('{"a": {"b": [1, true, null, "x y"]}}') == [{"a": {"b": ["1", "true", None, "x y"]}}]


def test_several_documents_and_empty_ones():
    assert read("a: 1\n---\n---\nb: 2\n") == [{"a": "1"}, {"b": "2"}]
    assert read("# only a comment\n") == []


def test_an_alias_repeats_a_whole_value():
    assert read("a: &x {p: 1}\nb: *x\n") == [{"a": {"p": "1"}, "b": {"p": "1"}}]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a second time; the first is in line 1"),
        ("a: *there\n", 1, "no &there above"),
        ("a: &a\n  - *a\n", 2, "no &a above"),
        ("a: !!python/object/apply:os.system [id]\n", 1, "tag"),
        ("a: !x 1\n", 1, "tag"),
        ("a:\n  <<: {b: 1}\n", 2, "Merging"),
        ("? [1, 2]\n: 3\n", 1, "A name has to stand"),
        ("a: [1\nb: 2\n", 2, "no YAML"),
        ("a:\n\t- b\n", 2, "no YAML"),
        ("a: \x00\n", 1, "no YAML"),
        ("[" * 100_000, 1, "nested more than"),
        ("{a: " * 50_000, 1, "nested more than"),
        ("x" * (1024 * 1024 + 1), 1, "more than"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, line, says):
    with pytest.raises(DocumentError, match=says) as caught:
        documents(text)
    assert caught.value.line == line


def test_a_billion_laughs_are_not_laughed():
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10)]
    with pytest.raises(DocumentError, match=f"more than {NODES_MAX:,}"):
        documents("\n".join(lines))


def test_a_long_list_ends_too():
    with pytest.raises(DocumentError, match="make several files"):
        documents("- x\n" * (NODES_MAX + 1))


def test_tables_are_tables():
    (table,) = documents("a: {}\nb: []\n")
    assert isinstance(table, DocumentTable)
    assert read("a: {}\nb: []\n") == [{"a": {}, "b": []}]

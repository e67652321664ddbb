"""Our keys are set, an operator's lines stay."""

from console.processes.properties_file import set_properties, with_properties


def test_owned_keys_are_replaced_where_they_stand_and_all_else_stays():
    text = "# mine\nbroker.id=7\nnum.partitions=6\n\nlisteners=old\n"
    assert with_properties(text, {"broker.id": "1", "listeners": "new", "log.dirs": "/d"}) == (
        "# mine\nbroker.id=1\nnum.partitions=6\n\nlisteners=new\nlog.dirs=/d\n"
    )


def test_second_line_of_an_owned_key_would_win_and_is_dropped():
    assert with_properties("a=1\nb=2\na=3\n", {"a": "9"}) == "a=9\nb=2\n"


def test_continued_value_of_an_owned_key_goes_with_it():
    assert with_properties("listeners=one,\\\n  two,\\\n  three\nb=2\n", {"listeners": "new"}) == "listeners=new\nb=2\n"


def test_initial_keys_are_written_once_and_then_are_the_operators(tmp_path):
    path = tmp_path / "server.properties"
    set_properties(path, {"a": "1"}, {"default.replication.factor": "3"})
    assert path.read_text() == "a=1\ndefault.replication.factor=3\n"
    path.write_text("a=1\ndefault.replication.factor=2\n")
    set_properties(path, {"a": "1"}, {"default.replication.factor": "3"})
    assert path.read_text() == "a=1\ndefault.replication.factor=2\n"


def test_file_that_is_right_already_is_not_written(tmp_path):
    path = tmp_path / "server.properties"
    set_properties(path, {"a": "1"})
    before = path.stat().st_mtime_ns, path.stat().st_ino
    set_properties(path, {"a": "1"})
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_what_is_to_go_goes_with_the_lines_that_belong_to_it():
    assert with_properties("a=1\nb=2,\\\n  3\nc=4\n", {"a": "9"}, {"b"}) == "a=9\nc=4\n"

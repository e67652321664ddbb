"""Small rooms: files and functions a person can hold in the head."""

from tests.tidy.sources import ROOT, functions, product_files

FILE_LINES_MAX = 420
#: One idea however it is cut: what users ask of a log, whose parts have files of their own; and one client's socket, of
#: which every step decides whether the next may be taken.
ONE_IDEA_LINES_MAX = {
    "broker/log/log.py": 600,
    "broker/net/connection.py": 480,
    "broker/coordinator/group/coordinator.py": 440,
    "broker/runtime/controller/controller_runtime.py": 430,
}
FUNCTION_LINES_MAX = 45
#: Typical, not largest: the middle function of the product.
FUNCTION_LINES_MEDIAN_MAX = 10


def test_no_file_is_longer_than_a_person_reads_in_one_go():
    lengths = {path: len((ROOT / path).read_text().splitlines()) for path in product_files()}
    limits = {path: ONE_IDEA_LINES_MAX.get(path, FILE_LINES_MAX) for path in lengths}
    assert {path: length for path, length in lengths.items() if length > limits[path]} == {}


def test_no_function_is_longer_than_a_screen():
    lengths = _function_lengths()
    assert {name: length for name, length in lengths.items() if length > FUNCTION_LINES_MAX} == {}


def test_most_functions_are_short():
    lengths = sorted(_function_lengths().values())
    assert lengths[len(lengths) // 2] <= FUNCTION_LINES_MEDIAN_MAX


def _function_lengths() -> dict[str, int]:
    return {
        f"{path}:{function.name}": function.end_lineno - function.lineno + 1
        for path, tree in product_files().items()
        for function in functions(tree)
    }

"""`pytest tests/simulation --seed N` runs that seed instead of the fixed handful."""

#: Chosen because together they meet every kind of fault; more are for `make simulate`.
SEEDS = (1, 2, 3, 4, 5, 6)


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, action="append", help="a seed to simulate; may be given several times")


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", metafunc.config.getoption("--seed", default=None) or SEEDS)

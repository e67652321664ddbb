"""Another commit of this repository, checked out beside it, whose brokers are measured in turn with ours."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_ROOT = Path(__file__).parent.parent.parent


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Yield a directory with the files of `commit`, compiled as ours are; it is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="barnabas-bench-") as directory:
        tree = Path(directory) / "tree"
        _git("worktree", "add", "--detach", "--quiet", str(tree), commit)
        try:
            subprocess.run([sys.executable, "-m", "compileall", "-q", "broker"], cwd=tree, check=True, env={})
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def broker_of(tree: Path) -> Sequence[str]:
    """Return the command that starts a broker of these files, without its configuration."""
    return ("env", "-C", str(tree), sys.executable, "-m", "broker", "server")


def _git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(_ROOT), *arguments], check=True)

"""The controller's stories, told again and compared. REWRITE_TRANSCRIPTS=1 writes them anew; the diff is the review."""

import os
from pathlib import Path

import pytest

from tests.broker.controller.story import Story

TRANSCRIPTS = Path(__file__).parents[2] / "transcripts" / "controller"


@pytest.mark.parametrize("path", sorted(TRANSCRIPTS.glob("*.txt")), ids=lambda path: path.stem)
def test_controller_tells_the_story_as_written(path):
    written = path.read_text()
    retold = _retell(written)
    if os.environ.get("REWRITE_TRANSCRIPTS"):
        path.write_text(retold)
    assert retold == written


def test_there_are_stories():
    assert len(list(TRANSCRIPTS.glob("*.txt"))) >= 8


def _retell(text: str) -> str:
    """Comments and blank lines stay, commands are run, whatever else stood there is replaced by what happens now."""
    story, lines = Story(), []
    for line in text.splitlines():
        if line.startswith("> "):
            lines += [line, *(f"    {output}" for output in story.run(line.removeprefix("> ")))]
        elif line.startswith("#") or not line.strip():
            lines.append(line)
    return "\n".join(lines) + "\n"

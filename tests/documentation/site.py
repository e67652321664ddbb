"""Stage the documents for a site: `python -m tests.documentation.site DIRECTORY`; `make docs` builds the site of them.

Pages of docs/ link to documents and files beside docs/, as a repository's browser wants it. A builder of sites sees one
folder: these files are staged below `repository/`, and links are rewritten. A link from there to a file that is not
staged loses its address and keeps its words.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from tests.documentation.markdown import links
from tests.tidy.sources import ROOT

BESIDE = "repository"
_LINK = re.compile(r"(`+[^`]*`+)|(!?\[([^\]]*)\])\(([^)\s]+)\)")


def beside_docs(root: Path = ROOT) -> set[str]:
    """Return the files beside docs/ that pages of docs/ link to, by their paths below `root`."""
    pages = sorted((root / "docs").rglob("*.md"))
    targets = {_target(str(page.relative_to(root)), link) for page in pages for link in links(page.read_text())}
    return {target for target in targets if not target.startswith("docs/") and (root / target).is_file()}


def for_the_site(text: str, document: str, beside: set[str]) -> str:
    """Return the Markdown of `document`, a path below the root, with the site's links."""

    def rewritten(match: re.Match[str]) -> str:
        code, shown, words, link = match.groups()
        if code or re.match(r"[a-z]+:|#", link):
            return match[0]
        target, anchor = _target(document, link), link.partition("#")[2]
        if not target.startswith("docs/") and target not in beside:
            return words
        path = os.path.relpath(_in_site(target), os.path.dirname(_in_site(document)))
        return f"{shown}({path}{'#' * bool(anchor)}{anchor})"

    return _LINK.sub(rewritten, text)


def _target(document: str, link: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(document), link.partition("#")[0]))


def _in_site(path: str) -> str:
    return path.removeprefix("docs/") if path.startswith("docs/") else f"{BESIDE}/{path}"


def stage(directory: Path) -> None:
    """Write the site's sources into an empty `directory`."""
    beside = beside_docs()
    for path in (*(path for path in (ROOT / "docs").rglob("*") if path.is_file()), *(ROOT / name for name in beside)):
        document = str(path.relative_to(ROOT))
        target = directory / _in_site(document)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            target.write_text(for_the_site(path.read_text(), document, beside))
        else:
            shutil.copy(path, target)


if __name__ == "__main__":
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    stage(Path(sys.argv[1]))

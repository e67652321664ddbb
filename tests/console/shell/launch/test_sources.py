"""Which connectors the demo and the documents are, and what the worker that ran them before had noted of them."""

import json
from dataclasses import replace
from pathlib import Path

from console.ecosystem.connectors.answers import OffsetView
from console.processes.setup import read_setup
from console.shell.launch.sources import forget_old_offset, read_old_offsets, wanted_sources

LOG = Path("/logs/console-access.log")
SETUP = read_setup({"BARNABAS_DEMO": "0"}, "")


def test_the_demo_is_two_connectors_and_each_document_one_of_its_own():
    assert set(wanted_sources(replace(SETUP, demo=True), LOG)) == {"host-metrics", "console-access"}
    documents = (Path("/a/my book.txt"), Path("/b/notes.txt"), Path("/a/notes.txt"))
    configs = wanted_sources(replace(SETUP, documents=documents), LOG)
    assert {name: config["file"] for name, config in configs.items()} == {
        "documents-my_book.txt": "/a/my book.txt",
        "documents-notes.txt": "/a/notes.txt",
        "documents-notes.txt-2": "/b/notes.txt",
    }
    assert wanted_sources(SETUP, LOG) == {}


def test_what_the_old_worker_had_noted_is_found_by_file_and_forgotten_once_it_is_taken_over(tmp_path):
    file = tmp_path / "offsets.json"
    place = {"inode": 7, "position": 14, "head": 1}
    file.write_text(json.dumps({"console-access": {str(LOG): place}, "documents": {"/n.txt": place}}))
    config = wanted_sources(replace(SETUP, demo=True), LOG)["console-access"]
    assert read_old_offsets(file, "console-access", config) == OffsetView({"filename": str(LOG)}, place)
    assert read_old_offsets(file, "documents-n.txt", {"file": "/n.txt"}) == OffsetView({"filename": "/n.txt"}, place)
    assert read_old_offsets(file, "documents-m.txt", {"file": "/m.txt"}) is None
    assert read_old_offsets(file, "host-metrics", {}) is None
    forget_old_offset(file, str(LOG))
    assert json.loads(file.read_text())["documents"] == {"/n.txt": place}
    forget_old_offset(file, "/n.txt")
    assert not file.exists()


def test_a_file_of_offsets_that_cannot_be_read_is_none(tmp_path):
    (tmp_path / "offsets.json").write_text("[1")
    assert read_old_offsets(tmp_path / "offsets.json", "console-access", {"file": "/x"}) is None

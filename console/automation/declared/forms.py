"""Files as a browser or a program sends them: chosen, or typed; and what is wrong with them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from console.automation.declared.declaration import ClusterDeclaration, DeclarationError, Problem, SourceLine
from console.automation.declared.parsing import CHARACTERS_MAX, FILES_MAX, parse
from console.automation.declared.parts import Prune

_NAME_LENGTH_MAX = 200


def files_of(request: HttpRequest) -> list[tuple[str, str]]:
    """Return names and texts of the posted files: repeated `text` with `file`, and `upload`.

    Raises DeclarationError.
    """
    names, texts = request.POST.getlist("file"), request.POST.getlist("text")
    typed = [(names[number] if number < len(names) else "", text) for number, text in enumerate(texts)]
    chosen = [_text_of(file) for file in request.FILES.getlist("upload")[: FILES_MAX + 1]]
    files = chosen or typed
    return [(name[:_NAME_LENGTH_MAX], text.replace("\r\n", "\n")) for name, text in files if text.strip() or name]


def fields_of(files: Sequence[tuple[str, str]], prune: Prune) -> list[tuple[str, str]]:
    """Return the form fields that make the same plan again."""
    pairs = [pair for name, text in files for pair in (("file", name), ("text", text))]
    fields = {Prune.NO: (), Prune.LATER: ("prune",), Prune.AT_ONCE: ("prune", "at_once")}[prune]
    return [*pairs, *((field, "on") for field in fields)]


def read(files: Sequence[tuple[str, str]]) -> ClusterDeclaration:
    """Raises DeclarationError."""
    if not files:
        raise DeclarationError((Problem(SourceLine("", 1), "Nothing is declared: choose a file, or type it."),))
    return parse(files)


def prune_of(parameters: Mapping[str, str]) -> Prune:
    if not _is_on(parameters, "prune"):
        return Prune.NO
    return Prune.AT_ONCE if _is_on(parameters, "at_once") else Prune.LATER


def _is_on(parameters: Mapping[str, str], name: str) -> bool:
    return parameters.get(name, "") in ("on", "true", "True")


def _text_of(upload: "UploadedFile[Any]") -> tuple[str, str]:
    """Raises DeclarationError."""
    name = upload.name or ""
    if (upload.size or 0) > CHARACTERS_MAX:
        raise DeclarationError((Problem(SourceLine(name, 1), f"The file is larger than {CHARACTERS_MAX:,} bytes."),))
    try:
        return name, upload.read().decode()
    except UnicodeDecodeError:
        raise DeclarationError((Problem(SourceLine(name, 1), "The file is no text in UTF-8."),)) from None

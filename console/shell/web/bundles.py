"""One style sheet and one script for all pages, put together when they are first asked for: there is no build step.

Each lies at an address with its digest, so browsers keep it for good; a changed file has another address. The scripts
in `static/js` are modules of one directory that import each other by name; each becomes a function of the bundle.
"""

import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound

#: Style sheets that others build on come first, and those that overrule others last.
_FIRST, _LAST = ("tokens", "layout", "components"), ("tables",)
_HTMX = ("django_htmx/htmx-2.min.js", "django_htmx/ext/hx-ws-2.min.js")
_IMPORT = re.compile(r'^import (?:\{ ([\w, ]+) \} from )?"\./(\w+)\.js";[^\n]*\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function (\w+))", re.MULTILINE)
_COMMENT_LINE = re.compile(r"^\s*//[^\n]*\n", re.MULTILINE)
_CSS_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
_KEEP_FOR_GOOD = "public, max-age=31536000, immutable"
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """`name` holds the digest of the bytes, for example `app.0f3a….css`."""

    name: str
    plain: bytes
    compressed: bytes


class BundleMiddleware:
    """Answers `static/bundle/app.<digest>.<kind>` before a session is looked at: a response that hung on cookies would
    be fetched anew after each login, and a cache that people share could keep a session's cookie with it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self._get_response = get_response
        self._folder = f"{settings.STATIC_URL}bundle/"

    def __call__(self, request: HttpRequest) -> HttpResponse:
        name = request.path_info.removeprefix(self._folder)
        is_bundle = name != request.path_info and request.method in ("GET", "HEAD")
        return _answer(request, name) if is_bundle else self._get_response(request)


def _answer(request: HttpRequest, name: str) -> HttpResponse:
    """Return the file; 404 for the digest of another version."""
    kind = name.rpartition(".")[2]
    kept = bundle_of(kind) if kind in _TYPES else None
    if kept is None or kept.name != name:
        return HttpResponseNotFound("This version of the console has another one.", content_type="text/plain")
    takes_gzip = "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {"Cache-Control": _KEEP_FOR_GOOD, "Vary": "Accept-Encoding"} | (
        {"Content-Encoding": "gzip"} if takes_gzip else {}
    )
    body = kept.compressed if takes_gzip else kept.plain
    return HttpResponse(body, content_type=_TYPES[kind], headers=headers)


def address_of(kind: str) -> str:
    """Return the address of the bundle of `kind`, css or js, below STATIC_URL."""
    return f"{settings.STATIC_URL}bundle/{bundle_of(kind).name}"


def bundle_of(kind: str) -> Bundle:
    """Return the bundle of `kind`; while DEBUG is on, made anew for each page."""
    if settings.DEBUG:
        _bundle.cache_clear()
    return _bundle(kind)


@lru_cache(maxsize=len(_TYPES))
def _bundle(kind: str) -> Bundle:
    plain = (_style() if kind == "css" else _script()).encode()
    digest = hashlib.sha256(plain).hexdigest()[:16]
    return Bundle(f"app.{digest}.{kind}", plain, gzip.compress(plain, mtime=0))


def _style() -> str:
    paths = {path.stem: path for path in _folder("css").glob("*.css")}
    others = sorted(paths.keys() - {*_FIRST, *_LAST})
    return "".join(_CSS_COMMENT.sub("", paths[name].read_text()) for name in (*_FIRST, *others, *_LAST))


def _script() -> str:
    libraries = [Path(_library_path(name)).read_text().rstrip() for name in _HTMX]
    sources = {path.stem: path.read_text() for path in _folder("js").glob("*.js")}
    return ";\n".join([*libraries, modules_as_one(sources, "main")])


def _folder(name: str) -> Path:
    return settings.ASSETS_DIR / "static" / name


def _library_path(name: str) -> str:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"{name} is in no package: install the console's dependencies.")
    return path


def modules_as_one(sources: dict[str, str], first: str) -> str:
    """Return one script that does what the module `first` and all it imports do, each after those it imports.

    `sources` has each module's text by its name. Modules may import named functions and export functions. Raises
    ValueError for other forms, and for modules that import each other in a circle.
    """
    parts: dict[str, str] = {}
    _add(first, sources, parts, ())
    return '(() => {\n"use strict";\nconst modules = {};\n' + "".join(parts.values()) + "})();\n"


def _add(name: str, sources: dict[str, str], parts: dict[str, str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"The modules {' → '.join((*above, name))} import each other: move what both need to a third.")
    if name in parts:
        return
    text = sources[name]
    for _, imported in _IMPORT.findall(text):
        _add(imported, sources, parts, (*above, name))
    body = _IMPORT.sub(lambda match: f"const {{ {match[1]} }} = modules.{match[2]};\n" if match[1] else "", text)
    exported = [function for _, function in _EXPORT.findall(body)]
    body = _COMMENT_LINE.sub("", _EXPORT.sub(r"\1", body))
    if strange := re.search(r"^(?:import|export)\b[^\n]*", body, re.MULTILINE):
        raise ValueError(f"{name}.js has `{strange[0]}`: only named functions are imported and exported.")
    parts[name] = f"modules.{name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"

"""Rows as a page shows them, for a person of some reach: a changed row reaches a browser through here alone."""

from collections.abc import Collection
from functools import cache
from typing import cast

from django.utils.module_loading import import_string

from console.kit.access.reach import Reach
from console.kit.features.listed import features
from console.kit.live.rows import ChangedPartitions, Parts, Renderer
from console.shell.web.watched import Key

_RENDERERS = {kind.name: kind.renderer for feature in features() for kind in feature.row_kinds}


def render_rows(wanted: Collection[Key], partitions: ChangedPartitions, reach: Reach) -> dict[Key, Parts]:
    """Render those of `wanted` that exist and are in reach. `partitions`: of topics' pages, those that changed."""
    rendered: dict[Key, Parts] = {}
    for kind in {kind for kind, _ in wanted}:
        keys = [key for kind_of_key, key in wanted if kind_of_key == kind]
        rows = _renderer(kind)(keys, reach, partitions)
        rendered.update({(kind, key): parts for key, parts in rows.items()})
    return rendered


@cache
def _renderer(kind: str) -> Renderer:
    return cast(Renderer, import_string(_RENDERERS[kind]))

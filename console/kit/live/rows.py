"""What a feature gives for its kinds of rows: messages for the pages that show them, for a person of some reach.

A row out of reach is not found, so it is not sent. What is rendered for one reach goes to every page of that reach.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from console.kit.access.reach import Reach

#: The messages of one row: two, if it consists of table rows and of something else; none: the page fetches itself.
Parts: TypeAlias = tuple[str, ...]
#: By the primary keys of topics: the numbers of the partitions that changed.
ChangedPartitions: TypeAlias = Mapping[int, list[int]]
#: A function of primary keys, the reach and the changed partitions; what it returns lacks rows out of reach.
Renderer: TypeAlias = Callable[[list[int], Reach, ChangedPartitions], dict[int, Parts]]

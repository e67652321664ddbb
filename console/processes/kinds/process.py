"""What a kind's module looks at of a process that runs; not its row, which is made of kinds itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from console.processes.kinds.spec import Spec


class StartedProcess(Protocol):
    @property
    def spec(self) -> Spec: ...

    @property
    def ports(self) -> Sequence[int]:
        """Its ports on 127.0.0.1; the first is shown."""
        ...

    @property
    def data_dir(self) -> Path: ...

"""The console's settings are read once and name one directory; who runs tests beside others moves them into its own."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings


def keep_data_in(directory: Path) -> None:
    """From now on, whatever the settings were made from."""
    former, new = os.environ["BARNABAS_DATA"], str(directory)
    directory.mkdir(mode=0o700)
    os.environ["BARNABAS_DATA"] = new
    for name in dir(settings):
        if name.isupper():
            setattr(settings, name, moved(getattr(settings, name), former, new))


def moved(value: Any, former: str, new: str) -> Any:
    """As it would be below the other directory. A dictionary is changed: others hold it already."""
    if type(value) is str:
        return value.replace(former, new)
    if isinstance(value, Path):
        return Path(str(value).replace(former, new))
    if isinstance(value, dict):
        value.update({key: moved(item, former, new) for key, item in value.items()})
    if type(value) in (list, tuple):
        return type(value)(moved(item, former, new) for item in value)
    return value

"""How much this worker logs, by logger; of one logger and those below it."""

import logging
import time

from broker.common.logs import LEVELS


class Levels:
    def __init__(self) -> None:
        self._set_at: dict[str, int] = {}

    def names(self) -> list[str]:
        """The root, and whose level was set."""
        known = logging.root.manager.loggerDict.items()
        return ["root", *sorted(name for name, each in known if isinstance(each, logging.Logger) and each.level)]

    def knows(self, name: str) -> bool:
        return name == "root" or name in logging.root.manager.loggerDict

    def of(self, name: str) -> dict[str, object]:
        level = logging.getLogger(None if name == "root" else name).getEffectiveLevel()
        word = next((word for word, number in LEVELS.items() if number == level), logging.getLevelName(level))
        return {"level": word, "last_modified": self._set_at.get(name)}

    def set(self, name: str, level: str) -> list[str]:
        """Which ones were set. A level that is none changes nothing."""
        number = LEVELS.get(level.upper())
        if number is None:
            return []
        names = sorted({name, *(each for each in logging.root.manager.loggerDict if each.startswith(f"{name}."))})
        for each in names:
            logging.getLogger(None if each == "root" else each).setLevel(number)
            self._set_at[each] = int(time.time() * 1000)
        return names

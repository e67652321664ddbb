"""An operator who presses buttons on the processes page while everything dies around the console."""

import http.cookiejar
import random
import urllib.parse
import urllib.request
from dataclasses import dataclass, field

from tests.browser.conftest import PASSWORD

TIMEOUT_S = 2.0
#: Stopping these leaves the others able to be well; anything may be restarted.
MAY_STOP = ("broker-3", "connect", "access-counts")


@dataclass
class Operator:
    """Logs in when it has to. What a dead console does not answer was not asked for."""

    console: str
    rng: random.Random
    _jar: http.cookiejar.CookieJar = field(default_factory=http.cookiejar.CookieJar)

    def __post_init__(self) -> None:
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._jar))

    def wish(self, names: list[str]) -> str:
        """Press one button; what was pressed, empty if the console did not answer."""
        name = self.rng.choice(names)
        action = self.rng.choice(("start", "stop", "kill") if name in MAY_STOP else ("start", "restart"))
        try:
            self._log_in()
            self._post(f"/processes/{name}/{action}", {})
        except OSError:  # urllib's errors, and time-outs
            return ""
        return f"{action:<8} {name} (asked)"

    def _log_in(self) -> None:
        if not any(cookie.name == "barnabas_session" for cookie in self._jar):
            self._browser.open(f"{self.console}/login/", timeout=TIMEOUT_S).read()
            self._post("/login/", {"username": "admin", "password": PASSWORD})

    def _post(self, path: str, form: dict[str, str]) -> None:
        token = next(cookie.value for cookie in self._jar if cookie.name == "barnabas_csrf")
        data = urllib.parse.urlencode({**form, "csrfmiddlewaretoken": token}).encode()
        self._browser.open(f"{self.console}{path}", data, timeout=TIMEOUT_S).read()

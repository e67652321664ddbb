"""Errors that end a failed login by single sign-on. `str` is for the log, `sentence` for the person."""


class LoginRefusedError(Exception):
    """What came is not to be believed, or gives nothing here."""

    status = 403
    sentence = "What the provider said of you could not be verified. Try again; if it stays so, tell an administrator."

    def __init__(self, reason: str, sentence: str = "", status: int = 0):
        super().__init__(reason)
        self.sentence = sentence or self.sentence
        self.status = status or self.status


class ProviderAwayError(LoginRefusedError):
    """It does not answer, or what it answers cannot be used. It may pass by itself."""

    status = 502
    sentence = "The provider of single sign-on does not answer as it should. Try again in a moment."


class NotBegunError(LoginRefusedError):
    """Nothing was tried: the browser began no login, or another one since."""

    status = 400
    sentence = "This login was not begun in this browser, or too long ago. Begin again."

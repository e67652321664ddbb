"""A connection to the directory for one login: within TLS unless it is this machine's, within a time and a size.

Nothing is followed: neither a referral nor an alias. The person's password is sent last, to the directory that was
named, when exactly one entry is the person's.
"""

import socket
import ssl
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from console.people.directory.configuration import DirectorySettings
from console.people.directory.messages import (
    BOUND,
    EXTENDED,
    INVALID_CREDENTIALS,
    NO_SUCH_OBJECT,
    SEARCHED,
    SIZE_LIMIT_EXCEEDED,
    SUCCESS,
    DirectoryEntry,
    LdapResponse,
    NotLdapError,
    answer_of,
    bind,
    length_of,
    search,
    start_tls,
)

#: For all of one login.
TIMEOUT_S = 8.0
#: An entry with ten thousand groups of a hundred letters.
MESSAGE_BYTES_MAX = 2 * 1024 * 1024
#: Of all answers to one login, which are held at one time.
BYTES_MAX = 2 * MESSAGE_BYTES_MAX
ENTRIES_MAX = 1_000
_HEADER_BYTES = 6


class AwayError(Exception):
    """The directory cannot be asked; one sentence for the log, without what was asked."""


class DirectoryClient:
    """In a `with` block. Whatever goes wrong on the way is an AwayError."""

    def __init__(self, directory: DirectorySettings):
        self._directory = directory
        self._ends = time.monotonic() + TIMEOUT_S
        self._number = self._came = 0
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        where = f"{self._directory.host}:{self._directory.port}"
        try:
            self._socket = socket.create_connection((self._directory.host, self._directory.port), self._left())
            if self._directory.is_tls:
                self._wrap()
            elif self._directory.starts_tls:
                self._ask_for_tls()
        except ssl.SSLCertVerificationError as error:
            self._close()
            raise AwayError(f"the certificate of {where} is not trusted: {error.verify_message}") from error
        except OSError as error:
            self._close()
            raise AwayError(f"{where}: {error.strerror or type(error).__name__}") from error
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def bind(self, dn: str, password: str) -> bool:
        """Return whether the directory takes `password` for that of `dn`."""
        (answer,) = self._answers(bind(self._next(), dn, password), BOUND)
        if answer.code not in (SUCCESS, INVALID_CREDENTIALS):
            raise AwayError(f"a bind was answered with LDAP's code {answer.code}")
        return answer.code == SUCCESS

    def find(
        self, base: str, matches: list[tuple[str, str]], also: tuple[str, str] | None, attributes: list[str], most: int
    ) -> list[DirectoryEntry]:
        """Return up to `most` entries, and one more if there are."""
        message_id = search(
            self._next(), base, matches, also, attributes, most=most + 1, seconds=max(1, int(self._left()))
        )
        *entries, end = self._answers(message_id, SEARCHED)
        if end.code not in (SUCCESS, SIZE_LIMIT_EXCEEDED, NO_SUCH_OBJECT):
            raise AwayError(f"a search was answered with LDAP's code {end.code}")
        return [item.entry for item in entries if item.entry is not None]

    def _ask_for_tls(self) -> None:
        (answer,) = self._answers(start_tls(self._next()), EXTENDED)
        if answer.code != SUCCESS:
            raise AwayError(f"it does not begin TLS (LDAP's code {answer.code})")
        self._wrap()

    def _wrap(self) -> None:
        file = self._directory.authority_file
        context = ssl.create_default_context(cafile=str(file) if file else None)
        self._plain().settimeout(self._left())
        self._socket = context.wrap_socket(self._plain(), server_hostname=self._directory.host)

    def _answers(self, question: bytes, end: str) -> Iterator[LdapResponse]:
        """Yield the responses to the last request: entries, if it was a search, and the last of them with a code."""
        try:
            self._plain().settimeout(self._left())
            self._plain().sendall(question)
            for _ in range(ENTRIES_MAX):
                answer = answer_of(self._message())
                if answer.kind == end and answer.number == self._number:
                    yield answer
                    return
                if answer.code is not None:  # as when it says that it hangs up, which is an answer to nothing
                    raise NotLdapError(f"it gives an unexpected response (LDAP's code {answer.code})")
                if answer.entry is not None:
                    yield self._of_search(answer, end)
        except NotLdapError as error:
            raise AwayError(str(error)) from error
        except OSError as error:
            raise AwayError(error.strerror or type(error).__name__) from error
        raise AwayError("it does not come to an end")

    def _of_search(self, answer: LdapResponse, end: str) -> LdapResponse:
        if end != SEARCHED or answer.number != self._number:
            raise NotLdapError("it returns an entry that was not asked for")
        return answer

    def _message(self) -> bytes:
        data = b""
        while (length := length_of(data)) is None:
            data += self._received(1 if len(data) < 2 else _HEADER_BYTES - len(data))
        if length > MESSAGE_BYTES_MAX:
            raise NotLdapError(f"it announces an answer of {length} bytes")
        self._came += length
        if self._came > BYTES_MAX:
            raise NotLdapError(f"it tells more than {BYTES_MAX} bytes")
        while len(data) < length:
            data += self._received(length - len(data))
        return data

    def _received(self, most: int) -> bytes:
        self._plain().settimeout(self._left())
        piece = self._plain().recv(min(most, 1 << 16))
        if not piece:
            raise ConnectionError("it hung up")
        return piece

    def _plain(self) -> socket.socket:
        assert self._socket is not None, "outside of its `with` block"
        return self._socket

    def _left(self) -> float:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()

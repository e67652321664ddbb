"""What the registry answers when the answer is no: Confluent's codes, whose first three digits are HTTP's. Pure."""

from broker.common.errors import BarnabasError


class RegistryError(BarnabasError):
    """`code` is Confluent's error_code; the message is for a person."""

    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code

    @property
    def status(self) -> int:
        return self.code if self.code < 1000 else int(str(self.code)[:3])


class InvalidSchema(RegistryError):
    """42201: the text is no schema of its type, or a reference of it leads nowhere."""

    def __init__(self, message: str):
        super().__init__(42201, message)


class Incompatible(RegistryError):
    """40901, with what is in the way."""

    def __init__(self, subject: str, messages: list[str]):
        details = f"[{', '.join(messages)}]"
        super().__init__(
            40901,
            f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
            f"details: {details}",
        )
        self.messages = messages


def subject_not_found(subject: str) -> RegistryError:
    return RegistryError(40401, f"Subject '{subject}' not found.")


def version_not_found(version: object) -> RegistryError:
    return RegistryError(40402, f"Version {version} not found.")


def schema_not_found(what: object = "") -> RegistryError:
    return RegistryError(40403, f"Schema {what} not found" if what != "" else "Schema not found")


def not_permitted(sentence: str) -> RegistryError:
    return RegistryError(42205, sentence)


def unprocessable(sentence: str) -> RegistryError:
    return RegistryError(422, sentence)

"""A typed key or value encoded by the schema that the registry has for the topic."""

from console.cluster.schemas.codec import encoded, usable
from console.cluster.schemas.errors import CodecError
from console.cluster.schemas.registry import registry
from console.kit.gateway.errors import GatewayError, RefusedError


def encode_for(topic: str, part: str, typed: str) -> tuple[bytes, str]:
    """Return the bytes, or none and why not. `part` is key or value; the schema is the latest of TOPIC-key or
    TOPIC-value.
    """
    subject = f"{topic}-{part}"
    try:
        gateway = registry()
        schema = gateway.version(subject, "latest")
        ready = usable(gateway, schema, lambda: gateway.version(subject, schema.version, form="serialized"))
        return encoded(ready, typed), ""
    except RefusedError as error:
        return b"", f"The registry has no schema {subject}: {error}"
    except GatewayError as error:
        return b"", str(error)
    except CodecError as error:
        return b"", f"It does not fit the latest schema of {subject}: {error}."

"""The header of a response alone; a broker writes it together with the frame (`broker/protocol/response_frame.py`)."""

from broker.protocol.headers import has_flexible_response_header


def encode_response_header(api_key: int, api_version: int, correlation_id: int) -> bytes:
    """Return the correlation id, and no tagged fields where the header is flexible."""
    return correlation_id.to_bytes(4, signed=True) + b"\0" * has_flexible_response_header(api_key, api_version)

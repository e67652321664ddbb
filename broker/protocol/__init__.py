"""Kafka's wire protocol as data: message declarations, their codec, headers and framing.

Pure: bytes in, values out. Nothing here opens a socket, reads a clock or knows what a broker is; it may import
`broker.common` and nothing else of the product.
"""

"""Protobuf: compiled by protoc itself, printed back from what it understood, compared by tags.

Pure but for `compiler`, which keeps the process that compiles.
"""

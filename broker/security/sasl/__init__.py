"""Logging in by SASL, the broker's end: its phases, and one object for each mechanism. Pure: time and nonces are given
in, bytes come out.
"""

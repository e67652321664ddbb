"""JSON Schema: drafts 4 to 2020-12, references that never leave the registry, and what a change of one means.

Pure but for `names` and its process, which match patterns that strangers wrote.
"""

"""One file per command: of `python -m broker`, and of Kafka's (`commands.py`). May start either tower.

What all commands share is in `frame`; what those of one kind are made of, in the folder of that name.
"""

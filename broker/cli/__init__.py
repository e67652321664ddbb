"""One file per command of `python -m broker`. May start either tower; imported by nobody but `__main__`."""

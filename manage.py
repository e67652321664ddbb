#!/usr/bin/env python
"""`python -m console` under the name that Django's people look for."""

import sys

from console.__main__ import main

if __name__ == "__main__":
    sys.exit(main())

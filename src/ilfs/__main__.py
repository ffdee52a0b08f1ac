"""``python -m ilfs``: the command ``ilfs``."""

import sys

from ilfs.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""The command ``ilfs``: each command parses, calls the library, and prints."""

from ilfs.cli.main import main

__all__ = ["main"]

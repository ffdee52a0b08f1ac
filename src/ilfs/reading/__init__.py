"""Files of the user as sources: small ones are loaded, larger ones are read in blocks."""

from ilfs.reading.entry import read

__all__ = ["read"]

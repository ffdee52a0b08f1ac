"""Provenance: the code and the package versions that a result was computed with."""

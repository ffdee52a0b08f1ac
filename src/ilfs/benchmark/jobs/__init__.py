"""Jobs: compute the missing results of a suite, in supervised worker processes or on a Dask cluster."""

"""Jobs: compute what a store does not have of a suite, in watched processes or on a Dask cluster."""

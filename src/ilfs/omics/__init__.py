"""Marker genes of groups of cells: AnnData in, results in the shape that scanpy reads.

`rank` scores every gene for every group of cells against all other cells. It writes the result to ``adata.uns`` and
``adata.var``. `table`, `panel` and `write_rnk` read it from there, and `save` adds it to a file. AnnData may be in
memory, backed by a file, or lazy. Needs the extra ``ilfs[omics]``.
"""

from ilfs.omics.gsea import write_rnk
from ilfs.omics.panels import panel, panel_names
from ilfs.omics.ranking import rank
from ilfs.omics.saving import save
from ilfs.omics.tables import table

__all__ = ["panel", "panel_names", "rank", "save", "table", "write_rnk"]

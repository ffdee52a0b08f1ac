"""
A table larger than memory
==========================

``ilfs.read`` opens a folder of Parquet files without loading it. A fit reads the rows in blocks, and gives the
ranking that the table in memory would give. This example writes a table of 40,000 rows in four files, and allows 50
MB.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ilfs

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
names = [f"sensor{j}" for j in range(300)]
for number in range(4):
    state = rng.integers(2, size=10_000)
    values = rng.normal(size=(10_000, 300)).astype(np.float32)
    values[:, :5] += 0.3 * state[:, None] * np.arange(5, 0, -1)
    part = pd.DataFrame(values, columns=names).assign(state=np.where(state, "worn", "new"))
    part.to_parquet(folder / f"part{number}.parquet")

# %%
table = ilfs.read(folder / "*.parquet", target="state", memory_limit="50MB")
print(table)
selector = ilfs.ILFS(5).fit(table)
print(list(selector.get_feature_names_out()))

# %%
# The ranking is that of the table in memory.
frame = pd.read_parquet(folder)
in_memory = ilfs.ILFS(5).fit(frame.drop(columns="state"), frame["state"])
print("same order:", bool((in_memory.order_ == selector.order_).all()))

# %%
selector.plot.scores(top=8)
plt.show()

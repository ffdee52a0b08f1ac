// The page of interactions: a filter for the table of sets, which a click on a feature of the network fills.
"use strict";

const search = document.getElementById("search");
const rows = Array.from(document.querySelectorAll("table.sets tbody tr"), (row) => [row, row.cells[1].textContent.toLowerCase()]);

function filterSets() {
  const text = search.value.trim().toLowerCase();
  let shown = 0;
  for (const [row, names] of rows) {
    row.hidden = text !== "" && !names.includes(text);
    shown += row.hidden ? 0 : 1;
  }
  const sets = rows.length === 1 ? "1 set" : `${rows.length.toLocaleString("en-US")} sets`;
  document.getElementById("shown-count").textContent = text === "" ? sets : `${shown.toLocaleString("en-US")} of ${sets}`;
}

if (search) {
  for (const hidden of document.querySelectorAll("[data-interactive]")) hidden.hidden = false;
  search.addEventListener("input", filterSets);
  readNetworks((_, name) => {
    search.value = search.value === name ? "" : name;
    filterSets();
  });
  filterSets();
}

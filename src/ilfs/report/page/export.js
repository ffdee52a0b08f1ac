// The chosen features as text, CSV and .rnk, to copy or to download.
"use strict";

// A spreadsheet would run text that starts like this as a formula; ilfs/spreadsheet.py has the same rule.
const FORMULA_START = /^[=+\-@\t\r\n]/;

function csvWord(word) {
  const safe = FORMULA_START.test(word) ? `'${word}` : word;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvNumber(value) {
  if (Number.isNaN(value)) return "";
  return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : value > 0 ? "inf" : "-inf";
}

function csvText(data, places) {
  const lines = [data.columns.map((column) => csvWord(column.key)).join(",")];
  for (const place of places) {
    lines.push(data.columns.map((column) => {
      if (column.key === "feature") return csvWord(data.names[place]);
      if (column.kind === "name") return data.nearest[place] < 0 ? "" : csvWord(data.names[data.nearest[place]]);
      return column.kind === "word" ? csvWord(wordAt(column, place)) : csvNumber(column.values[place]);
    }).join(","));
  }
  return lines.join("\n") + "\n";
}

function namesText(data, places) {
  return Array.from(places, (place) => oneLine(data.names[place]) + "\n").join("");
}

// A ranked list for gene set enrichment: with two classes the effect, whose sign says where the feature is higher.
function rnkText(data, places) {
  const values = (data.classes.length === 2 && columnOf(data, "effect") || columnOf(data, "score")).values;
  const known = Array.from(places).filter((place) => !Number.isNaN(values[place]));
  known.sort((a, b) => values[b] - values[a]);
  return known.map((place) => `${oneLine(data.names[place])}\t${csvNumber(values[place])}\n`).join("");
}

function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = element("textarea", { class: "visually-hidden" }); // browsers that allow no clipboard for local files
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

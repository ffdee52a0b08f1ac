// Reads the data that the page carries; ilfs/report/page/encoding.py describes the format.
"use strict";

const ARRAY_TYPES = { f4: Float32Array, u1: Uint8Array, u2: Uint16Array, i4: Int32Array };
const MISSING_LEVEL = 65535;
const N_LEVELS = 65534;

async function readData() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const headerSize = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerSize)));
  return filled(header, bytes.subarray(4 + headerSize));
}

// Puts arrays in place of their descriptions.
function filled(item, body) {
  if (Array.isArray(item)) return item.every((one) => typeof one === "string") ? item : item.map((one) => filled(one, body));
  if (item === null || typeof item !== "object") return item;
  if ("type" in item && "at" in item && "length" in item) return arrayAt(item, body);
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, filled(value, body)]));
}

// The bytes of an array are grouped by significance, because this compresses better.
function arrayAt({ type, at, length }, body) {
  const ArrayType = ARRAY_TYPES[type];
  const size = ArrayType.BYTES_PER_ELEMENT;
  const bytes = new Uint8Array(size * length);
  for (let b = 0; b < size; b++) {
    const start = at + b * length;
    for (let k = 0; k < length; k++) bytes[k * size + b] = body[start + k];
  }
  return new ArrayType(bytes.buffer);
}

// Values of a feature whose values are kept, NaN if missing; null for any other feature.
function valuesOf(data, place) {
  if (!data.values) return null;
  const row = data.values.places.indexOf(place);
  if (row < 0) return null;
  const { low, width, levels } = data.values.numbers;
  const n = data.values.codes.length;
  return Array.from(levels.subarray(row * n, (row + 1) * n), (level) =>
    level === MISSING_LEVEL ? NaN : low[row] + (width[row] * level) / N_LEVELS);
}

// Quantiles of each class of a feature: an array of five numbers for each class.
function quantilesOf(data, place) {
  const row = data.values.places.indexOf(place);
  const n = data.values.labels.length;
  return Array.from({ length: n }, (_, k) => data.values.quantiles.subarray((row * n + k) * 5, (row * n + k + 1) * 5));
}

// Similarities of all features to the head of a family: 1 for the head, 0 for features that are no members. The same rule
// as `families` of a selector. Places are ranks, so the nearest better feature of a place comes before it.
function familyOf(data, head, atLeast) {
  const similarity = new Float32Array(data.n);
  similarity[head] = 1;
  if (!data.nearest) return similarity;
  const correlation = columnOf(data, "correlation").values;
  for (let place = head + 1; place < data.n; place++) {
    const nearest = data.nearest[place];
    const found = nearest < head ? 0 : similarity[nearest] * correlation[place];
    if (Math.abs(found) >= atLeast) similarity[place] = found;
  }
  return similarity;
}

// Number of members of the family of each feature, itself included.
function familySizes(data, atLeast) {
  const sizes = new Uint32Array(data.n).fill(1);
  if (!data.nearest) return sizes;
  const correlation = columnOf(data, "correlation").values;
  for (let place = 0; place < data.n; place++) {
    let similarity = correlation[place];
    for (let head = data.nearest[place]; head >= 0 && Math.abs(similarity) >= atLeast; head = data.nearest[head]) {
      sizes[head]++;
      similarity *= correlation[head];
    }
  }
  return sizes;
}

function columnOf(data, key) {
  return data.columns.find((column) => column.key === key);
}

function wordAt(column, place) {
  return column.words[column.codes[place]];
}

// Text of a number. Columns of one scale have fixed decimals, so that they are easy to compare; other numbers have about
// four digits, probabilities two.
function numberText(value, kind) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (kind === "integer") return value.toLocaleString("en-US");
  if (value === 0 && kind !== "fixed") return "0";
  if (kind === "exponent") return value.toExponential(3).replaceAll("-", "−");
  if (kind === "fixed") return value.toFixed(4).replaceAll("-", "−");
  const size = Math.abs(value);
  let text;
  if (kind === "probability") text = size >= 1e-4 ? String(Number(value.toPrecision(2))) : value.toExponential(1);
  else if (kind === "fraction" || kind === "effect") text = size < 1e5 ? value.toFixed(2) : value.toExponential(2);
  else if (size >= 1e6 || size < 1e-3) text = value.toExponential(2);
  else text = size >= 1000 ? value.toFixed(0) : value.toPrecision(4);
  return text.replaceAll("-", "−");
}

// Control characters and marks of direction would break lines of text files and of the page.
function oneLine(name) {
  return name.replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ");
}

function shortened(name, letters) {
  const marks = Array.from(oneLine(name.length > 4 * letters ? name.slice(0, 2 * letters) + name.slice(-2 * letters) : name));
  if (marks.length <= letters) return marks.join("");
  const end = Math.floor((letters - 1) / 2);
  return marks.slice(0, letters - 1 - end).join("") + "…" + marks.slice(marks.length - end).join("");
}

// The table of all features. Only the rows in sight are in the document, so that 20,000 rows stay smooth.
"use strict";

const ROW_PX = 34;
const OVERSCAN = 8; // rows above and below those in sight

class FeatureTable {
  constructor(container, data, { onChoose, onToggle, isChosen }) {
    Object.assign(this, { container, data, onChoose, onToggle, isChosen });
    this.sort = { key: "rank", direction: 1 };
    this.view = Uint32Array.from({ length: data.n }, (_, k) => k);
    this.active = 0; // number of the row that has the focus, in the view
    this.shown = -1; // place of the feature whose details are shown
    this.columns = data.shown.map((key) => columnOf(data, key));
    this.build();
  }

  build() {
    this.table = element("table", { role: "grid", class: "features", "aria-label": "all features", "aria-multiselectable": "true" });
    const groups = element("colgroup");
    const head = element("tr", { "aria-rowindex": 1 });
    groups.append(element("col", { class: "check" }));
    head.append(element("th", { scope: "col", class: "check" }, element("span", { class: "visually-hidden" }, "chosen")));
    for (const column of this.columns) {
      groups.append(element("col", { class: `${column.kind} ${{ score: "bar", verdict: "verdict", direction: "direction" }[column.key] ?? ""}` }));
      head.append(this.headerOf(column));
    }
    this.body = element("tbody");
    this.table.append(groups, element("thead", {}, head), this.body);
    this.container.replaceChildren(this.table);
    this.container.addEventListener("scroll", () => this.schedule(), { passive: true });
    window.addEventListener("resize", () => this.schedule());
    this.body.addEventListener("click", (event) => this.onClick(event));
    this.body.addEventListener("keydown", (event) => this.onKey(event));
  }

  headerOf(column) {
    const button = element("button", { type: "button", title: column.about }, column.title);
    const isNumber = column.kind !== "word" && column.kind !== "name";
    const header = element("th", { scope: "col", class: isNumber ? "number" : "", "aria-sort": "none", "data-key": column.key }, button);
    button.addEventListener("click", () => this.sortBy(column));
    return header;
  }

  // A first click sorts as readers want it: best first for ranks, probabilities and names, largest first for the rest.
  sortBy(column) {
    const rising = ["rank", "p_value", "q_value"].includes(column.key) || ["word", "name"].includes(column.kind);
    const first = rising ? 1 : -1;
    this.sort = { key: column.key, direction: this.sort.key === column.key ? -this.sort.direction : first };
    this.arrange(this.view);
  }

  // Sorts places; ties and missing values keep the order of the ranking, missing values come last.
  arrange(places) {
    const column = columnOf(this.data, this.sort.key);
    const { direction } = this.sort;
    const key = this.sortKeys(column);
    this.view = Uint32Array.from(places).sort((a, b) => {
      const [x, y] = [key[a], key[b]];
      if (x === y || (x !== x && y !== y)) return a - b;
      if (x !== x) return 1;
      if (y !== y) return -1;
      return x < y ? -direction : direction;
    });
    for (const header of this.table.querySelectorAll("th[data-key]")) {
      const isSorted = header.dataset.key === this.sort.key;
      header.setAttribute("aria-sort", !isSorted ? "none" : direction > 0 ? "ascending" : "descending");
    }
    this.container.scrollTop = 0;
    this.active = 0;
    this.table.setAttribute("aria-rowcount", this.view.length + 1);
    this.render(true);
  }

  sortKeys(column) {
    if (column.kind === "name") return this.nameRanks(column);
    if (column.kind !== "word") return column.values;
    const order = column.words.map((_, k) => k).sort((a, b) => column.words[a].localeCompare(column.words[b]));
    const rank = [];
    order.forEach((code, k) => (rank[code] = column.words[code] === "" ? NaN : k));
    return Float32Array.from(column.codes, (code) => rank[code]);
  }

  nameRanks(column) {
    if (column.ranks) return column.ranks;
    const names = column.key === "feature" ? this.data.names : Array.from(this.data.nearest, (k) => (k < 0 ? "" : this.data.names[k]));
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    const cut = names.map((name) => name.slice(0, 200));
    const order = Uint32Array.from(cut.keys()).sort((a, b) => compare(cut[a], cut[b]));
    column.ranks = new Float32Array(names.length);
    order.forEach((place, k) => (column.ranks[place] = cut[place] === "" ? NaN : k));
    return column.ranks;
  }

  schedule() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.render(false);
    });
  }

  render(isForced) {
    const top = Math.max(0, Math.floor(this.container.scrollTop / ROW_PX) - OVERSCAN);
    const seen = Math.ceil(this.container.clientHeight / ROW_PX) + 2 * OVERSCAN;
    const last = Math.min(this.view.length, top + seen);
    if (!isForced && top === this.first && last === this.last) return;
    const hadFocus = this.body.contains(document.activeElement);
    [this.first, this.last] = [top, last];
    const rows = [];
    for (let row = top; row < last; row++) rows.push(this.rowOf(row));
    this.body.replaceChildren(this.spacer(top), ...rows, this.spacer(this.view.length - last));
    if (!this.view.length) this.body.append(this.emptyRow());
    if (hadFocus) this.body.querySelector("tr[tabindex='0']")?.focus({ preventScroll: true });
  }

  spacer(n) {
    const row = element("tr", { "aria-hidden": "true", class: "spacer" });
    row.style.height = `${n * ROW_PX}px`;
    return row;
  }

  emptyRow() {
    return element("tr", {}, element("td", { colspan: this.columns.length + 1, class: "soft" }, "No feature passes these filters."));
  }

  rowOf(row) {
    const place = this.view[row];
    const chosen = Boolean(this.isChosen(place));
    const made = element("tr", {
      "aria-rowindex": row + 2, "aria-selected": chosen, "data-row": row, "data-place": place,
      tabindex: row === this.active ? 0 : -1, class: `${chosen ? "chosen" : ""} ${place === this.shown ? "shown" : ""}`,
    });
    const box = element("input", { type: "checkbox", tabindex: -1, "aria-label": `choose ${shortened(this.data.names[place], 60)}` });
    box.checked = chosen;
    made.append(element("td", { class: "check" }, box));
    for (const column of this.columns) made.append(this.cellOf(column, place));
    return made;
  }

  cellOf(column, place) {
    if (column.kind === "name") return this.nameCell(column.key === "feature" ? place : this.data.nearest[place]);
    if (column.kind === "word") {
      const word = wordAt(column, place);
      const kind = column.key === "verdict" ? ` verdict ${word.replace(" ", "-")}` : "";
      return element("td", { class: `word${kind}`, title: word }, word === "" ? "–" : element("bdi", {}, shortened(word, 50)));
    }
    const cell = element("td", { class: column.key === "score" ? "number bar" : "number" }, numberText(column.values[place], column.kind));
    if (column.key === "score") cell.prepend(this.barOf(column, place));
    return cell;
  }

  barOf(column, place) {
    const largest = column.largest ?? (column.largest = Math.max(...column.values.subarray(0, 1000).filter(Number.isFinite), 0));
    const part = largest > 0 ? Math.min(Math.max(column.values[place] / largest, 0), 1) : 0;
    return smallBar(part);
  }

  nameCell(place) {
    if (place < 0) return element("td", { class: "name" }, "–");
    const name = this.data.names[place];
    const cell = element("td", { class: "name" }, element("bdi", {}, shortened(name, 80)));
    cell.title = oneLine(name.slice(0, 500));
    return cell;
  }

  onClick(event) {
    const row = event.target.closest("tr[data-place]");
    if (!row) return;
    this.active = Number(row.dataset.row);
    const place = Number(row.dataset.place);
    if (event.target.closest("td.check")) this.onToggle(place);
    else this.onChoose(place);
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.container.clientHeight / ROW_PX) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key in steps) this.moveTo(this.active + steps[event.key]);
    else if (event.key === "Enter") this.onChoose(this.view[this.active]);
    else if (event.key === " ") this.onToggle(this.view[this.active]);
    else return;
    event.preventDefault();
  }

  moveTo(row) {
    this.active = Math.min(Math.max(row, 0), this.view.length - 1);
    const [top, head] = [this.active * ROW_PX, this.table.tHead.offsetHeight];
    const box = this.container;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + ROW_PX > box.scrollTop + box.clientHeight - head) box.scrollTop = top + ROW_PX - box.clientHeight + head;
    this.render(true);
    this.body.querySelector("tr[tabindex='0']")?.focus({ preventScroll: true });
  }

  show(place) {
    this.shown = place;
    this.render(true);
  }
}

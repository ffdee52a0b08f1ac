// The page of a ranking: filters, the cut, the chosen features and the details of one feature.
"use strict";

const STRONG_CORRELATION = 0.7; // of the members of a family
const MAX_LISTED = 500; // chosen features in the list on the page
const MAX_MEMBERS = 20; // members of a family in the details
const MAX_PARTNERS = 8; // interactions in the details
const MAX_FAMILIES = 300; // families to filter by
const SLIDER_STEPS = 1000;
const MARGIN_PX = 120; // details of which less is in sight are scrolled to
const FILTERS = ["search", "direction", "largest-q", "verdict", "family", "only-chosen"];
const PARTS = [...FILTERS, "cut-slider", "cut-number", "shown-count", "list", "chosen-count", "detail"];

class RankingPage {
  constructor(data) {
    this.data = data;
    this.chosen = Uint8Array.from(data.selected);
    this.part = Object.fromEntries(PARTS.map((id) => [id, document.getElementById(id)])); // null for a part not there
    for (const hidden of document.querySelectorAll("[data-interactive]")) hidden.hidden = false;
    this.table = new FeatureTable(document.getElementById("table"), data, {
      onChoose: (place) => this.show(place, true),
      onToggle: (place) => this.toggle(place),
      isChosen: (place) => this.chosen[place],
    });
    const volcano = document.getElementById("volcano");
    const onPoint = (place, jumps = true) => this.show(place, jumps);
    this.volcano = volcano && columnOf(data, "effect") ? new VolcanoPlot(volcano, data, onPoint) : null;
    const map = document.querySelector("figure.correlations");
    if (map && data.map) readMap(map, data);
    readNetworks((place) => this.show(place, true));
    this.fillChoices();
    this.listen();
    this.table.arrange(this.table.view);
    this.afterChoice();
    this.show(0, false);
  }

  fillChoices() {
    const column = columnOf(this.data, "direction");
    const found = new Set(column ? this.everyPlace().map((place) => wordAt(column, place)) : []);
    found.delete("");
    const words = [...found].sort();
    this.part.direction?.append(...words.map((word) => element("option", { value: word }, shortened(word, 50))));
  }

  listen() {
    for (const id of FILTERS) this.part[id]?.addEventListener("input", () => this.filter());
    this.part["cut-slider"].addEventListener("input", (event) => this.cut(this.sizeOf(Number(event.target.value))));
    this.part["cut-number"].addEventListener("input", (event) => this.cut(Number(event.target.value) || 0));
    const actions = {
      "reset-cut": () => this.choose(Uint8Array.from(this.data.selected)),
      "choose-shown": () => this.chooseShown(),
      "clear-filters": () => this.clearFilters(),
      "copy": (button) => this.copy(button),
      "save-text": () => download(`${this.data.file}.txt`, namesText(this.data, this.places()), "text/plain"),
      "save-csv": () => download(`${this.data.file}.csv`, csvText(this.data, this.places()), "text/csv"),
      "save-rnk": () => download(`${this.data.file}.rnk`, rnkText(this.data, this.places()), "text/plain"),
      "save-all-csv": () => download(`${this.data.file}_all.csv`, csvText(this.data, this.everyPlace()), "text/csv"),
      "save-all-rnk": () => download(`${this.data.file}_all.rnk`, rnkText(this.data, this.everyPlace()), "text/plain"),
    };
    for (const [id, act] of Object.entries(actions)) {
      document.getElementById(id).addEventListener("click", (event) => act(event.currentTarget));
    }
    for (const chip of document.querySelectorAll("button.chip")) {
      chip.addEventListener("click", () => this.show(Number(chip.dataset.place), true));
    }
  }

  // The slider is logarithmic: the first features matter most.
  sizeOf(step) {
    return step <= 0 ? 0 : Math.round(this.data.n ** ((step - 1) / (SLIDER_STEPS - 1)));
  }

  stepOf(size) {
    return size <= 0 ? 0 : 1 + Math.round(((SLIDER_STEPS - 1) * Math.log(size)) / Math.max(Math.log(this.data.n), 1e-9));
  }

  cut(size) {
    const chosen = new Uint8Array(this.data.n);
    chosen.fill(1, 0, Math.min(Math.max(Math.round(size), 0), this.data.n));
    this.choose(chosen);
  }

  choose(chosen) {
    this.chosen = chosen;
    this.afterChoice();
    if (this.part["only-chosen"].checked || this.part.family?.value) this.filter();
    else this.table.render(true);
  }

  toggle(place) {
    this.chosen[place] = 1 - this.chosen[place];
    this.afterChoice();
    this.table.render(true);
  }

  chooseShown() {
    const chosen = new Uint8Array(this.data.n);
    for (const place of this.table.view) chosen[place] = 1;
    this.choose(chosen);
  }

  places() {
    return this.everyPlace().filter((place) => this.chosen[place]);
  }

  everyPlace() {
    return Array.from({ length: this.data.n }, (_, place) => place);
  }

  // Brings everything that depends on the chosen features up to date.
  afterChoice() {
    const places = this.places();
    const size = places.length;
    this.part["chosen-count"].textContent = `${size.toLocaleString("en-US")} of ${this.data.n.toLocaleString("en-US")} features chosen`;
    const rest = size > MAX_LISTED ? `… and ${(size - MAX_LISTED).toLocaleString("en-US")} more: copy or download them all\n` : "";
    this.part.list.value = namesText(this.data, places.slice(0, MAX_LISTED)) + rest;
    if (document.activeElement !== this.part["cut-number"]) this.part["cut-number"].value = size;
    if (document.activeElement !== this.part["cut-slider"]) this.part["cut-slider"].value = this.stepOf(size);
    this.part["cut-slider"].setAttribute("aria-valuetext", size === 1 ? "1 feature" : `${size} features`);
    const isPrefix = size === 0 || places[size - 1] === size - 1;
    moveCut(isPrefix ? size : 0);
    this.fillFamilies(places);
    this.volcano?.draw(this.chosen);
    if (this.table.shown >= 0) this.show(this.table.shown, false);
  }

  fillFamilies(heads) {
    const select = this.part.family;
    if (!select) return;
    const count = (this.familySizes ??= familySizes(this.data, STRONG_CORRELATION));
    const large = heads.filter((head) => count[head] > 1).slice(0, MAX_FAMILIES);
    const before = select.value;
    select.replaceChildren(element("option", { value: "" }, "all families"),
      ...large.map((head) => element("option", { value: head }, `${shortened(this.data.names[head], 30)} (${count[head]})`)));
    select.value = large.includes(Number(before)) && before !== "" ? before : "";
  }

  filter() {
    const { data, part } = this;
    const text = part.search.value.trim().toLowerCase();
    this.lower ??= data.names.map((name) => name.slice(0, 2000).toLowerCase());
    const verdict = columnOf(data, "verdict");
    const q = columnOf(data, "q_value")?.values;
    const largest = part["largest-q"]?.value === "" ? Infinity : Number(part["largest-q"]?.value);
    const direction = columnOf(data, "direction");
    const family = part.family?.value ? familyOf(data, Number(part.family.value), STRONG_CORRELATION) : null;
    const keeps = (place) =>
      (!text || this.lower[place].includes(text)) &&
      (!part.direction?.value || wordAt(direction, place) === part.direction.value) &&
      (!part.verdict?.value || wordAt(verdict, place) === part.verdict.value) &&
      (!q || !(q[place] > largest)) &&
      (!family || family[place] !== 0) &&
      (!part["only-chosen"].checked || this.chosen[place]);
    this.table.arrange(this.everyPlace().filter(keeps));
    const shown = this.table.view.length;
    part["shown-count"].textContent = shown === data.n ? `all ${data.n.toLocaleString("en-US")} features` :
      `${shown.toLocaleString("en-US")} of ${data.n.toLocaleString("en-US")} features`;
  }

  clearFilters() {
    for (const id of FILTERS) if (this.part[id]) this.part[id].value = "";
    this.part["only-chosen"].checked = false;
    this.filter();
  }

  async copy(button) {
    await copyText(namesText(this.data, this.places()));
    const before = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = before), 1500);
  }

  // Details of one feature.
  show(place, jumps) {
    this.table.show(place);
    this.volcano?.mark(place);
    const { detail } = this.part;
    detail.replaceChildren(...this.detailsOf(place));
    const { top, bottom } = detail.getBoundingClientRect();
    const isOutOfSight = top > window.innerHeight - MARGIN_PX || bottom < MARGIN_PX;
    if (jumps && isOutOfSight) detail.scrollIntoView({ behavior: "smooth", block: "start" });
  }

  detailsOf(place) {
    const { data } = this;
    const name = element("bdi", {}, shortened(data.names[place], 120));
    const heading = element("h3", { class: "feature-name", title: oneLine(data.names[place].slice(0, 2000)) }, name);
    const button = element("button", { type: "button" }, this.chosen[place] ? "Remove from the chosen" : "Add to the chosen");
    button.addEventListener("click", () => this.toggle(place));
    const parts = [this.valuesPart(place), this.tokensPart(place), this.partnersPart(place), this.familyPart(place)].filter(Boolean);
    return [heading, element("p", {}, this.sentence(place)), ...parts, element("p", { class: "no-print" }, button)];
  }

  sentence(place) {
    const { data } = this;
    const at = (key) => columnOf(data, key)?.values[place];
    const score = numberText(at("score"), columnOf(data, "score").kind);
    const words = [`Rank ${numberText(place + 1, "integer")} of ${numberText(data.n, "integer")}, score ${score}.`];
    const direction = columnOf(data, "direction") ? wordAt(columnOf(data, "direction"), place) : "";
    if (direction) {
      const effect = Math.abs(at("effect"));
      const by = effect === Infinity ? "; it is constant within each class" : `, by ${numberText(effect, "effect")} standard deviations`;
      const others = data.classes.length > 2 ? " than in the other classes" : "";
      words.push(`${direction[0].toUpperCase()}${shortened(direction.slice(1), 49)}${others}${by}.`);
    }
    const [q, frequency] = [at("q_value"), at("selection_frequency")];
    if (q !== undefined) words.push(`q-value ${numberText(q, "probability")}: ${wordAt(columnOf(data, "verdict"), place)}.`);
    words.push(...this.unseen(place));
    if (frequency !== undefined) words.push(`Selected on ${Math.round(100 * frequency)} % of the subsamples.`);
    if (at("missing") > 0) words.push(`Missing in ${numberText(100 * at("missing"), "")} % of the rows.`);
    return words.join(" ");
  }

  // What a test of class means, feature by feature, does not see of this feature.
  unseen(place) {
    const { data } = this;
    const shape = data.shapes?.[place];
    const words = shape === undefined ? [] : [`${Math.round(100 * shape)} % of what it added comes from the spread of its values.`];
    const verdict = columnOf(data, "verdict");
    if (!verdict || wordAt(verdict, place) === "confirmed") return words;
    const reasons = [...(shape === undefined ? [] : ["the spread"]), ...(this.setsOf(place).length ? ["what features tell together"] : [])];
    if (reasons.length) words.push(`The q-value tests class means, feature by feature, and does not see ${reasons.join(" or ")}.`);
    return words;
  }

  // Sets of features that tell the class together, with this one: places and words.
  setsOf(place) {
    const all = (this.data.sets ?? []).map(({ places, words }) => [places.split(" ").map(Number), words]);
    return all.filter(([places]) => places.includes(place));
  }

  valuesPart(place) {
    const { data } = this;
    const values = valuesOf(data, place);
    const name = data.names[place];
    if (values) {
      const { labels, codes, note } = data.values;
      const some = labels.length > MAX_STRIPS ? `The ${MAX_STRIPS} of ${labels.length} classes with the largest medians. ` : "";
      const plot = stripPlot(name, labels, codes, values, quantilesOf(data, place));
      return element("figure", {}, plot, element("figcaption", {}, some + note));
    }
    const means = data.columns.filter((column) => column.key.startsWith("mean_"));
    if (!means.length) return null;
    return element("figure", {}, meansPlot(name, data.classes, means.map((column) => column.values[place])));
  }

  tokensPart(place) {
    const { tokens } = this.data;
    if (!tokens) return null;
    const counts = tokens.fractions.subarray(place * tokens.n, (place + 1) * tokens.n);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (!total) return null;
    return element("figure", {}, tokenPlot(Array.from(counts, (count) => count / total), tokens.edges),
      element("figcaption", {}, "Fraction of the samples by how well this feature represents them (tokens). A good feature " +
        "has most samples on the right."));
  }

  familyPart(place) {
    const { data } = this;
    if (!data.nearest) return null;
    const similarity = familyOf(data, place, STRONG_CORRELATION);
    const members = this.everyPlace().filter((one) => similarity[one] !== 0 && one !== place);
    const items = members.slice(0, MAX_MEMBERS).map((one) => this.memberItem(one, similarity[one]));
    const nearest = data.nearest[place];
    const parts = [element("h4", {}, "Family")];
    if (nearest >= 0) {
      const line = element("p", {}, "Most like, among the better ones: ");
      line.append(this.linkTo(nearest), ` (correlation ${numberText(columnOf(data, "correlation").values[place], "effect")}).`);
      parts.push(line);
    }
    if (items.length) parts.push(element("p", {}, "Repeated, with this similarity, by"), element("ul", { class: "members" }, ...items));
    if (members.length > MAX_MEMBERS) parts.push(element("p", { class: "soft" }, `and ${members.length - MAX_MEMBERS} more`));
    if (!items.length) parts.push(element("p", { class: "soft" }, `No feature further down has it as its most similar better feature (correlation of at least ${STRONG_CORRELATION}).`));
    return element("div", {}, ...parts);
  }

  // Features that tell the class together with this one.
  partnersPart(place) {
    const own = this.setsOf(place);
    if (!own.length) return null;
    const items = own.slice(0, MAX_PARTNERS).map(([places, words]) => {
      const item = element("li", {});
      places.filter((one) => one !== place).forEach((one, k) => item.append(...(k ? [" & "] : []), this.linkTo(one)));
      item.append(element("span", { class: "soft" }, words));
      return item;
    });
    const rest = own.length > MAX_PARTNERS ? [element("p", { class: "soft" }, `and ${own.length - MAX_PARTNERS} more`)] : [];
    return element("div", {}, element("h4", {}, "Tells the class together with"), element("ul", { class: "partners" }, ...items), ...rest);
  }

  memberItem(place, similarity) {
    const bar = smallBar(Math.abs(similarity));
    return element("li", {}, this.linkTo(place), element("span", { class: "number" }, bar, numberText(similarity, "effect")));
  }

  linkTo(place) {
    const link = element("button", { type: "button", class: "link" }, element("bdi", {}, shortened(this.data.names[place], 40)));
    link.addEventListener("click", () => this.show(place, false));
    return link;
  }
}

readData().then((data) => new RankingPage(data)).catch((error) => {
  document.getElementById("failure").hidden = false;
  document.querySelector(".static-table").classList.remove("print-only");
  throw error;
});

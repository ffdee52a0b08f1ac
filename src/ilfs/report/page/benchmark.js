"use strict";
// Choosing a classifier, emphasising methods in all charts, and sorting tables. The page is complete without it.

function show(wanted) {
  const group = wanted.replace(/c\d+$/, "c");
  for (const section of document.querySelectorAll(".by-classifier")) {
    for (const name of section.classList) {
      if (name.startsWith(group)) section.hidden = name !== wanted;
    }
  }
  for (const button of document.querySelectorAll("[data-show]")) {
    if (button.dataset.show.startsWith(group)) {
      button.setAttribute("aria-pressed", String(button.dataset.show === wanted));
    }
  }
}

function emphasise(mark, isShown) {
  for (const part of document.getElementsByClassName(mark)) part.classList.toggle("faded", !isShown);
  for (const chip of document.querySelectorAll(`[data-mark="${mark}"]`)) {
    chip.setAttribute("aria-pressed", String(isShown));
  }
}

function textOf(row, column) {
  const cell = row.cells[column];
  const above = cell.querySelector("small");
  const text = above ? cell.firstChild.textContent : cell.textContent;
  return text.trim();
}

function sortRows(table, column, isAscending) {
  const body = table.tBodies[0];
  const keys = new Map();
  for (const row of body.rows) {
    const text = textOf(row, column);
    const number = parseFloat(text.replace(/,/g, "").replace("\u2212", "-"));
    keys.set(row, Number.isNaN(number) ? text : number);
  }
  const compare = (a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1; // words and missing values last
    const order = typeof x === "number" ? x - y : x.localeCompare(y);
    return isAscending ? order : -order;
  };
  body.append(...[...body.rows].sort(compare));
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const isNumber = head.classList.contains("number");
      const isAscending = head.hasAttribute("aria-sort") ? head.getAttribute("aria-sort") !== "ascending" : !isNumber;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", isAscending ? "ascending" : "descending");
      sortRows(table, column, isAscending);
    });
  });
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("[data-show][aria-pressed=true]").forEach((button) => show(button.dataset.show));
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.show) show(button.dataset.show);
  if (button.dataset.mark) emphasise(button.dataset.mark, button.getAttribute("aria-pressed") !== "true");
  if (button.dataset.all) {
    for (const chip of button.parentElement.querySelectorAll("[data-mark]")) {
      emphasise(chip.dataset.mark, button.dataset.all === "all");
    }
  }
});

// Networks of features: pointing at a feature marks its lines, and clicking it calls a function with its number.
"use strict";

function readNetworks(onChoose) {
  for (const svg of document.querySelectorAll("svg.network")) {
    const edges = Array.from(svg.querySelectorAll("[data-ends]"), (edge) => [edge, edge.dataset.ends.split(" ")]);
    for (const node of svg.querySelectorAll(".network-node")) {
      const mark = (isMarked) => {
        svg.classList.toggle("marked", isMarked);
        const near = new Set([node.dataset.node]);
        for (const [edge, ends] of edges) {
          const isOwn = isMarked && ends.includes(node.dataset.node);
          edge.classList.toggle("active", isOwn);
          if (isOwn) ends.forEach((end) => near.add(end));
        }
        for (const other of svg.querySelectorAll(".network-node")) other.classList.toggle("active", isMarked && near.has(other.dataset.node));
      };
      node.addEventListener("mouseenter", () => mark(true));
      node.addEventListener("mouseleave", () => mark(false));
      node.addEventListener("click", () => onChoose(Number(node.dataset.place), node.querySelector("title").textContent));
    }
  }
}

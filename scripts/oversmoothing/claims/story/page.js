"use strict";
const charts = JSON.parse(document.getElementById("specifications").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
function draw() {
  charts.forEach((chart, i) => vegaEmbed(`#chart-${i}`, chart, {
    actions: false, renderer: "svg", theme: dark.matches ? "dark" : undefined,
    config: { background: "transparent" },
  }));
}
dark.addEventListener("change", draw);
draw();

for (const button of document.querySelectorAll("button[data-verdict]")) {
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    const tiles = document.querySelectorAll(`.tile[data-verdict="${button.dataset.verdict}"]`);
    for (const tile of tiles) tile.hidden = !shown;
  });
}

let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const details of folded) details.open = true;
});
addEventListener("afterprint", () => { for (const details of folded) details.open = false; });

const value = cell => {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/[,(]/g, ""));
  return Number.isNaN(number) ? text : number;
};
for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("th").forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const [x, y] = [value(a.cells[column]), value(b.cells[column])];
        const order = typeof x === typeof y ? (x < y ? -1 : x > y ? 1 : 0) : typeof x === "number" ? -1 : 1;
        return up ? order : -order;
      });
      table.tBodies[0].append(...rows);
    });
  });
}
// What is wider than its frame says so, from when it is shown.
const frames = new ResizeObserver(entries => {
  for (const { target } of entries) target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth + 1);
});
for (const frame of document.querySelectorAll(".wide, .paper")) {
  frames.observe(frame);
  for (const inside of frame.children) inside.addEventListener("load", () => { frames.unobserve(frame); frames.observe(frame); });
}

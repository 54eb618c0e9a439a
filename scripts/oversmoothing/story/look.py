"""The story page's look: its style, and the script that draws charts, filters tiles and sorts tables."""

STYLE = """
:root {
  color-scheme: light dark;
  --line: #8886; --soft: #8881; --holds: #029e73; --not: #c1272d; --unknown: #9a7b00;
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 0 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { border-top: 1px solid var(--line); padding-top: 1.2rem; font-size: 1.3rem; }
.answer { font-size: 1.25rem; font-weight: 600; }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; }
figure { margin: 1rem 0; }
figcaption { font-weight: 600; }
.paper { overflow-x: auto; background: white; border-radius: .4rem; padding: .5rem; }
.paper img { display: block; max-width: max(100%, 36rem); height: auto; margin: auto; }
.chart { width: 100%; min-height: 320px; }
div.chart { display: flex; flex-direction: column; }
.vega-bindings { order: -1; display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; margin: .3rem 0; }
.vega-bindings select { font: inherit; margin-left: .3rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .6rem; }
.tile, details.table, details.figure { border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .7rem; }
.tile { border-left: .4rem solid var(--colour); }
details.table, details.figure { margin: .6rem 0; }
.tile[open] { grid-column: 1 / -1; }
.tile b, button b { color: var(--colour); }
.tile dl { font-size: .9rem; }
.holds { --colour: var(--holds); }
.does-not-hold { --colour: var(--not); }
.cannot-tell { --colour: var(--unknown); }
button { font: inherit; color: inherit; background: none; cursor: pointer; padding: .4rem .8rem; }
button { margin: 0 .4rem .4rem 0; border: 2px solid var(--colour, var(--line)); border-radius: .4rem; }
button[aria-pressed=false] { opacity: .45; }
summary { cursor: pointer; }
th button { all: unset; cursor: pointer; }
th button:focus-visible { outline: 2px solid; }
th[aria-sort=ascending] button::after { content: " ▲"; }
th[aria-sort=descending] button::after { content: " ▼"; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
"""

SCRIPT = """
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
"""

"use strict";
// What is wider than its frame says so, from when it is shown.
const frames = new ResizeObserver(entries => {
  for (const { target } of entries) target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth + 1);
});
for (const frame of document.querySelectorAll(".wide, .paper")) {
  frames.observe(frame);
  for (const inside of frame.children) inside.addEventListener("load", () => { frames.unobserve(frame); frames.observe(frame); });
}

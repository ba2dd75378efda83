"use strict";
{
// Search and zoom of a flame graph, by itself or within a page. Shown as a picture it is static.
const svg = document.currentScript.closest("svg");
const frames = Array.from(svg.querySelectorAll("g.f"));
const whole = Number(svg.dataset.width);
const letter = Number(svg.dataset.letter);
const found = svg.querySelector(".found");
const number = (element, name) => Number(element.getAttribute(name));
for (const frame of frames) {
  const box = frame.querySelector("rect");
  Object.assign(frame, { box, text: frame.querySelector("text"), colour: box.getAttribute("fill"),
    left: number(box, "x"), width: number(box, "width"), row: number(box, "y") });
}
function draw(from, width) {
  for (const frame of frames) {
    const left = Math.max(frame.left, from.left), right = Math.min(frame.left + frame.width, from.left + from.width);
    const shown = right - left > 1e-6 * whole;
    frame.style.display = shown ? "" : "none";
    if (!shown) continue;
    const x = (left - from.left) * width / from.width, w = (right - left) * width / from.width;
    frame.box.setAttribute("x", x);
    frame.box.setAttribute("width", Math.max(w - 0.3, 0.2));
    const room = Math.floor((w - 3) / letter), name = frame.dataset.name;
    frame.text.setAttribute("x", x + 1.5);
    frame.text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 1) + "…";
  }
}
function search(words) {
  let wanted = null;
  try { wanted = words ? new RegExp(words, "i") : null; } catch { found.textContent = "no such pattern"; return; }
  const spans = [];
  for (const frame of frames) {
    const hit = wanted !== null && wanted.test(frame.dataset.name);
    frame.box.setAttribute("fill", hit ? "#CC79A7" : frame.colour);
    if (hit) spans.push([frame.left, frame.left + frame.width]);
  }
  spans.sort((a, b) => a[0] - b[0]);
  let sum = 0, end = -1;
  for (const [a, b] of spans) { sum += Math.max(0, b - Math.max(a, end)); end = Math.max(end, b); }
  found.textContent = wanted === null ? "" : (100 * sum / whole).toFixed(1) + " % in " + spans.length + " frames match";
}
function ask() { search(window.prompt("Search (regular expression)", "") || ""); }
svg.addEventListener("click", (event) => {
  const frame = event.target.closest("g.f");
  if (frame) draw({ left: frame.left, width: frame.width }, whole);
  else if (event.target.closest(".search")) ask();
});
const button = svg.querySelector(".search");
const alone = svg === document.documentElement;
(alone ? window : button).addEventListener("keydown", (event) => {
  if (event.key === "/" || event.key === "Enter") { event.preventDefault(); ask(); }
  else if (event.key === "Escape") { draw({ left: 0, width: whole }, whole); search(""); }
});
button.style.display = "";
if (!alone) { button.textContent = "search"; svg.setAttribute("role", "group"); }
}

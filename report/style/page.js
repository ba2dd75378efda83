"use strict";
// Conveniences of the page. Without scripts all of it can be read, and browsers show the tips too.
{
// Folded chapters open for a link to them or into them, and for the printer.
function openFor(target) {
  if (!target) return;
  const own = target.matches("h1, h2, h3, h4") ? target.nextElementSibling : target;
  const folded = target.classList.contains("folded") && own && own.querySelector("details.folded");
  if (folded) folded.open = true;
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
}
function openLinked() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  openFor(target);
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", openLinked);
openLinked();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((box) => { box.open = true; }));

// What a point of a figure is: at once, and under a finger too.
const tip = document.createElement("div");
tip.className = "tip-box";
tip.hidden = true;
document.body.append(tip);
document.querySelectorAll("svg g.tip, svg g.f").forEach((point) => {
  const title = point.querySelector("title");
  point.dataset.tip = title.textContent;
  title.remove();
});
function showTip(event) {
  const point = event.target.closest && event.target.closest("svg [data-tip]");
  const text = point ? point.dataset.tip : sourceAt(event);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = Math.max(8, Math.min(event.clientX + 12, room)) + "px";
  tip.style.top = Math.max(8, event.clientY - tip.offsetHeight - 12) + "px";
}

// Where a number comes from: what a few values read as has the sources of all of them.
const listed = document.getElementById("numbers");
const sources = new Map(Object.entries(listed ? JSON.parse(listed.textContent) : {}));
const longest = Math.max(0, ...[...sources.keys()].map((printed) => printed.length));
function caretAt(x, y) {
  if (document.caretPositionFromPoint) {
    const caret = document.caretPositionFromPoint(x, y);
    return caret ? [caret.offsetNode, caret.offset] : [null, 0];
  }
  const range = document.caretRangeFromPoint(x, y); // Safari
  return range ? [range.startContainer, range.startOffset] : [null, 0];
}
function sourceAt(event) {
  const [node, at] = sources.size ? caretAt(event.clientX, event.clientY) : [null, 0];
  if (!node || node.nodeType !== Node.TEXT_NODE || !event.target.contains(node)) return "";
  const text = node.data, part = /[\w.,]/;
  for (let length = longest; length > 0; length--) {
    for (let start = Math.max(0, at - length); start <= at; start++) {
      const found = sources.get(text.slice(start, start + length));
      if (!found || part.test(text[start - 1] || "") || /\w/.test(text[start + length] || "")) continue;
      return found.join("\n");
    }
  }
  return "";
}
addEventListener("pointermove", showTip);
addEventListener("pointerdown", showTip);
}

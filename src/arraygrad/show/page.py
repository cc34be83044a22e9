"""The web page of a drawing, without its picture and its details."""

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Graph</title><style>
body { margin: 0; font: 14px Helvetica, Arial, sans-serif; }
#bar { position: fixed; top: 8px; left: 8px; background: #fffd; padding: 4px; }
#details { white-space: pre-wrap; max-width: 32em; }
svg { width: 100vw; height: 100vh; cursor: grab; }
.node { cursor: pointer; }
.found path, .found polygon { stroke: #c22; stroke-width: 3; }
</style></head><body>
<div id="bar"><input id="search" type="search" placeholder="search"> <span id="count"></span>
<div id="details"></div></div>
{svg}
<script>
"use strict";
const boxes = {details};
const svg = document.querySelector("svg"), view = svg.viewBox.baseVal;
const all = boxes.map((_, i) => document.getElementById("n" + i));
svg.removeAttribute("width"); svg.removeAttribute("height");
const scale = () => 1 / svg.getScreenCTM().a;
function show(i) {
  const lines = Object.entries(boxes[i]).map(([name, value]) => name + ": " + value);
  document.getElementById("details").textContent = lines.join("\\n");
}
function centre(element) {
  const box = element.getBoundingClientRect(), s = scale();
  view.x += (box.x + box.width / 2 - innerWidth / 2) * s;
  view.y += (box.y + box.height / 2 - innerHeight / 2) * s;
}
all.forEach((element, i) => element.addEventListener("click", () => show(i)));
document.getElementById("search").addEventListener("input", event => {
  const text = event.target.value.toLowerCase();
  const found = all.filter((element, i) => {
    const is = text !== "" && Object.values(boxes[i]).join(" ").toLowerCase().includes(text);
    element.classList.toggle("found", is);
    return is;
  });
  document.getElementById("count").textContent = text && found.length + " found";
  if (found.length) centre(found[0]);
});
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const s = scale(), by = Math.exp(event.deltaY / 500), origin = svg.getScreenCTM().inverse();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(origin);
  view.x = at.x - (at.x - view.x) * by; view.y = at.y - (at.y - view.y) * by;
  view.width *= by; view.height *= by;
}, { passive: false });
svg.addEventListener("pointermove", event => {
  if (event.buttons !== 1) return;
  const s = scale();
  view.x -= event.movementX * s; view.y -= event.movementY * s;
});
</script></body></html>
"""

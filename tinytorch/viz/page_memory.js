// The timeline and the table of activations: the operation under the pointer, and from when to when an array lives.
{
  const {moments, lives, steps, plot} = data.memory, svg = document.querySelector(".tinytorch-timeline");
  const [left, right, top, bottom] = plot, step = (right - left) / moments.length;
  const made = (name) => {
    const shape = svg.appendChild(document.createElementNS(svg.namespaceURI, "rect"));
    shape.setAttribute("class", name);
    shape.setAttribute("y", top);
    shape.setAttribute("height", bottom - top);
    return shape;
  };
  const life = made("life"), now = made("now");
  const span = (shape, from, to) => {
    shape.setAttribute("x", left + step * from);
    shape.setAttribute("width", step * (to - from));
  };
  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    const k = Math.floor((x - left) / step);
    if (k < 0 || k >= moments.length) return;
    span(now, k, k + 1);
    byId("moment").textContent = `${k}: ${moments[k]}`;
  });
  document.querySelectorAll("#lives tbody tr").forEach((row, k) => {
    row.addEventListener("mouseenter", () => span(life, lives[k][0], lives[k][1]));
    row.addEventListener("mouseleave", () => span(life, 0, 0));
    row.addEventListener("click", () => {
      const same = (e) => steps[k].some(([name, module]) => e.name === name && e.module === module);
      const hits = data.elements ? elements.filter((e) => e.kind === "op" && same(e)) : [];
      if (hits.length) show((hits.find((e) => !hidden(e.id)) || hits[0]).id);
    });
  });
}

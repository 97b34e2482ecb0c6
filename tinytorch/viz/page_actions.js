// What a reader does with the picture: fold and unfold, look at an operation, follow a gradient, find.
let lit = null, found = new Set(), wanted = "", next = 0, still = false;

const shownName = (id) => (elements[id].module ? elements[id].module + ": " : "") + elements[id].name;
const members = (id) => (elements[id].members || (elements[id].turns || []).flat());
const isGroup = (id) => ["group", "repeat"].includes(elements[id].kind);

// ---------------------------------------------------------------- folding
function fold(id) {
  const e = elements[id], state = open[id];
  if (e.kind === "group") open[id] = state ? "" : "open";
  else open[id] = {"": "one", one: "all", all: ""}[state || ""];
  if (open[id] === "one") {                    // a turn that is one module: its inside
    const turn = e.turns[1].filter(isGroup);
    if (turn.length === 1 && elements[turn[0]].kind === "group") open[turn[0]] = "open";
  }
  draw();
}

function foldAll(unfolded) {
  for (const e of elements) {
    if (isGroup(e.id)) open[e.id] = !unfolded ? data.open[e.id] || "" : e.kind === "group" ? "open" : "all";
  }
  draw();
}

/** Unfolds all that an element is in, so that it is drawn. */
function reveal(id) {
  for (let x = id; x in parent; x = parent[x]) {
    const holder = parent[x], repeat = elements[holder].kind === "repeat";
    if (!repeat) open[holder] = "open";
    else if (open[holder] !== "all") open[holder] = turnOf[x] === 1 ? "one" : "all";
  }
}

// ---------------------------------------------------------------- what is said of an element
const block = (tag, content, kind) => `<${tag}${kind ? ` class="${kind}"` : ""}>${escaped(String(content))}</${tag}>`;

function about(id) {
  const e = elements[id];
  let page = block("h2", e.kind === "op" ? `${e.name} / ${e.backward}` : e.name);
  if (e.calls) page += block("p", e.calls);
  else if (e.module) page += block("p", e.module);
  if (e.file) page += block("p", `${e.file}:${e.line}`, "place") + block("pre", e.text);
  if (e.kind === "error") page += block("p", e.text);
  if (isGroup(id)) {
    page += block("p", `${e.operations} operations`);
    for (const [kind, text] of Object.entries(e.kept_sizes)) page += block("p", `${kind}s kept: ${text}`);
  }
  for (const t of tensors.filter((made) => made.from === id)) {
    page += block("p", `makes [${t.shape.join(", ")}] ${t.dtype}`);
  }
  if (e.kind === "op") {
    const op = data.ops[e.op];
    page += block("h3", "formula") + rule(op.formula);
    for (const r of op.rules) page += block("h3", r.argument === "joint" ? "derivative rule" : `derivative by ${r.argument}`) + rule(r);
    page += block("h3", e.kept.length ? "backward needs" : "backward needs no array");
  }
  for (const k of e.kept || []) {
    const storage = data.storages[k.storage], counted = k.alias ? "counted elsewhere" : "counted here";
    page += block("p", `${k.name} [${k.shape.join(", ")}] ${k.dtype}: ${k.size} of ${k.kind}, ${counted}`,
      k.kind === "parameter" ? "" : "kept");
    page += block("p", `${storage.maker === null ? "given from outside" : "made by " + shownName(storage.maker)}; needed by the backward of ${list(storage.keepers)}`, "place");
  }
  byId("about").innerHTML = page;
}

const rule = (r) => block("pre", r.text) + block("p", `${r.file}:${r.line}`, "place");
const list = (ids) => ids.slice(0, 5).map(shownName).join(", ") + (ids.length > 5 ? ` and ${ids.length - 5} more` : "");

// ---------------------------------------------------------------- the way of a gradient
/** All that lies on the way of the gradient of an operation's result: from the loss to it, and on to the leaves. */
function pathOf(id) {
  const on = new Set([id]), reach = (from, to) => {
    const todo = [id];
    while (todo.length) {
      const x = todo.pop();
      for (const w of wires.filter((one) => one.grad && from(one) === x)) {
        if (!on.has(to(w))) { on.add(to(w)); todo.push(to(w)); }
      }
    }
  };
  const source = (w) => tensors[w.tensor].from, target = (w) => w.to;
  reach(source, target);
  const above = new Set(on);
  reach(target, source);
  const down = new Set([...on].filter((x) => !above.has(x)).concat(id));
  const wiresOn = new Set(wires.map((_, i) => i).filter((i) => wires[i].grad &&
    [above, down].some((part) => part.has(source(wires[i])) && part.has(target(wires[i])))));
  return {elements: on, wires: wiresOn};
}

function light() {
  const svg = byId("picture").firstElementChild;
  svg.classList.toggle("path", lit !== null);
  if (lit === null) return;
  const path = pathOf(lit);
  const holds = (id) => path.elements.has(id) || (!open[id] && members(id).some(holds));
  for (const g of svg.querySelectorAll("[data-element]")) g.classList.toggle("lit", holds(Number(g.dataset.element)));
  for (const p of svg.querySelectorAll("[data-wires]")) {
    p.classList.toggle("lit", p.dataset.wires.split(" ").some((i) => path.wires.has(Number(i))));
  }
}

// ---------------------------------------------------------------- find
/** Whether an element is in a turn that another stands for. */
function hidden(id) {
  for (let x = id; x in parent; x = parent[x]) {
    if (elements[parent[x]].kind === "repeat" && open[parent[x]] !== "all" && turnOf[x] !== 1) return true;
  }
  return false;
}

function find(go) {
  const text = byId("find").value.trim().toLowerCase();
  if (text !== wanted) { wanted = text; next = 0; }
  const words = (e) => [e.name, e.module, e.label || "", e.backward || "",
    ...tensors.filter((t) => t.from === e.id).map((t) => `[${t.shape.join(", ")}] ${t.dtype}`)].join("\n").toLowerCase();
  const hits = text ? elements.filter((e) => words(e).includes(text) && !hidden(e.id)).map((e) => e.id) : [];
  found = new Set(hits);
  byId("found").textContent = text ? `${hits.length} found` : "";
  if (!go || !hits.length) { mark(); return; }
  show(hits[next++ % hits.length]);
}

/** Unfolds what an element is in, and brings it into sight. */
function show(id) {
  still = true;                                // what comes under the pointer as the page scrolls is not looked at
  reveal(id);
  found.add(id);
  draw();
  about(id);
  const g = document.querySelector(`[data-element="${id}"]`);
  if (g) g.scrollIntoView({block: "center", inline: "center"});
}

function mark() {
  for (const g of document.querySelectorAll("#picture [data-element]")) {
    g.classList.toggle("found", found.has(Number(g.dataset.element)));
  }
}

// ---------------------------------------------------------------- events
const picture = byId("picture"), elementAt = (target) => {
  const g = target.closest("[data-element]");
  return g === null ? null : Number(g.dataset.element);
};
const look = (event) => {
  const id = elementAt(event.target);
  if (!still && id !== null && !(open[id] && !event.target.matches(".handle"))) about(id);
};
picture.addEventListener("mouseover", look);
picture.addEventListener("mousemove", (event) => {
  if (still && (event.movementX || event.movementY)) {
    still = false;
    look(event);
  }
});
picture.addEventListener("click", (event) => {
  const id = elementAt(event.target);
  if (id !== null && isGroup(id)) {
    if (!open[id] || event.target.matches(".handle, text")) fold(id);
    return;
  }
  lit = id === null || id === lit ? null : id;
  light();
});
picture.addEventListener("keydown", (event) => {
  const id = elementAt(event.target);
  if ((event.key === "Enter" || event.key === " ") && id !== null) {
    event.preventDefault();
    fold(id);
    picture.querySelector(`[data-element="${id}"]`).focus();
  }
});
byId("find").addEventListener("input", () => find(false));
byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(true); });
byId("all").addEventListener("click", () => foldAll(true));
byId("none").addEventListener("click", () => foldAll(false));
byId("backward").addEventListener("change", draw);
byId("fit").addEventListener("change", () => picture.classList.toggle("fit", byId("fit").checked));
picture.classList.add("fit");
draw();

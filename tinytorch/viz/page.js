// The picture of a graph: sizes and places as in place.py, drawing as in svg.py. What a reader does with it: page_actions.js.
const {elements, tensors, wires} = data, m = data.measures;
const open = Object.assign({}, data.open);
const parent = {}, turnOf = {};
for (const e of elements) {
  (e.turns || [e.members || []]).forEach((members, k) => members.forEach((x) => { parent[x] = e.id; turnOf[x] = k; }));
}
const sum = (list) => list.reduce((a, b) => a + b, 0);
const most = (list, otherwise) => list.length ? Math.max(...list) : otherwise;
const least = (list, otherwise) => list.length ? Math.min(...list) : otherwise;

// ---------------------------------------------------------------- sizes and places (place.py)
const wide = new RegExp(m.wide, "gu");
const width = (text, style) => ([...text].length + (text.match(wide) || []).length) * (m.sizes[style] || 14) * m.character;
const widest = (lines) => most(lines.map(([text, style]) => width(text, style)), 0);

function newBox(element, state) {
  return {element, state: state || "", w: 0, h: 0, body: [0, 0, 0, 0], ins: {}, outs: {}, inner: [], wires: [], texts: []};
}

function boxOf(number, both, beside = [], outs = [], ins = []) {
  const element = elements[number];
  if (open[number]) return frameOf(element, open[number], both);
  const box = newBox(element), sides = element.lines.slice(0, both ? 2 : 1);
  let bodyW = widest(sides.flat()) + 2 * m.pad;
  const bodyH = Math.max(...sides.map((side) => side.length)) * m.line + m.pad;
  const stack = beside.map((n) => boxOf(n, both));
  const left = stack.length ? Math.max(...stack.map((b) => b.w)) + m.gap : 0;
  const [x, labelled, right] = labels(box, outs, bodyW);
  if (x.length) bodyW = Math.max(bodyW, x[x.length - 1] + m.pad);
  outs.forEach((t, k) => { box.outs[t] = left + x[k]; });
  const stacked = sum(stack.map((b) => b.h + m.pad)) - m.pad;
  const below = Math.max(0, (stacked - bodyH) / 2), top = Math.max(labelled, below);
  box.texts = box.texts.map(([at, y, line]) => [left + at, y + top, line]);
  box.body = [left, top, bodyW, bodyH];
  box.w = left + Math.max(bodyW, right);
  box.h = top + bodyH + below;
  let y = top + bodyH / 2 - stacked / 2;
  stack.forEach((b, k) => {
    box.inner.push([b, left - m.gap - b.w, y]);
    const middle = y + b.h / 2, end = top + bodyH * (k + 1) / (stack.length + 1);
    const tensor = tensors.find((t) => t.from === beside[k]).id;
    const used = wires.map((w, i) => i).filter((i) => wires[i].tensor === tensor);
    box.wires.push([{tensor, wires: used}, [[left - m.gap, middle], [left, end]], [true, true]]);
    y += b.h + m.pad;
  });
  const step = Math.min(m.wire, (bodyW - 2 * m.pad) / Math.max(1, ins.length - 1));
  const start = left + bodyW / 2 - step * (ins.length - 1) / 2;
  ins.forEach((t, k) => { box.ins[t] = start + step * k; });
  return box;
}

function labels(box, outs, bodyW) {
  if (!outs.length) return [[], 0, 0];
  const count = outs.length;
  let all = outs.map((t) => tensors[t].label), x;
  const same = count > 2 && all.every((label) => JSON.stringify(label) === JSON.stringify(all[0]));
  if (same || count > 6) {
    const step = Math.max(3, Math.min(m.wire, 300 / count));
    const start = Math.max(m.pad, bodyW / 2 - step * (count - 1) / 2);
    x = outs.map((_, k) => start + step * k);
    const text = all[0].slice(0, 1).map(([t, style]) => [same ? `${count} x ${t}` : `${count} tensors`, style]);
    const last = text.concat(same ? all[0].slice(1) : []);
    all = outs.map((_, k) => k === count - 1 ? last : []);
  } else {
    const widths = all.map((label) => widest(label) + 16);
    const start = count === 1 ? bodyW / 2 : Math.max(m.pad, (bodyW - sum(widths.slice(0, -1))) / 2);
    x = outs.map((_, k) => start + sum(widths.slice(0, k)));
  }
  const height = Math.max(...all.map((label) => label.length)) * 14;
  all.forEach((label, i) => label.forEach((line, k) => box.texts.push([x[i] + 6, 14 * k - height + 10, line])));
  return [x, height + 4 * (height > 0), x[count - 1] + 6 + widest(all[count - 1])];
}

function frameOf(element, state, both) {
  const plan = state === "open" ? element.plan : element[state];
  const {vertices, layers} = plan, outs = {}, ins = {}, rank = {};
  layers.forEach((layer) => layer.forEach((v, i) => { rank[v] = i; }));
  for (const {tensor, chain} of plan.edges) {
    const a = chain[0], b = chain[chain.length - 1];
    (outs[a] = outs[a] || []).push([rank[chain[1]], tensor]);
    (ins[b] = ins[b] || []).push([rank[chain[chain.length - 2]], tensor]);
  }
  const frame = newBox(element, state);
  const boxes = vertices.map((v, i) => vertexBox(v, plan, inOrder(outs[i]), inOrder(ins[i]), both));
  const head = widest([headOf(element, state)]) + m.pad;
  const x = across(boxes, plan, head), [y, height] = down(boxes, layers);
  const left = least(x, 0), right = most(x.map((at, v) => at + boxes[v].w), 0);
  frame.w = Math.max(right - left, head) + 2 * m.pad;
  frame.h = height + m.line + 2 * m.pad;
  frame.body = [0, 0, frame.w, frame.h];
  boxes.forEach((box, v) => {
    x[v] += m.pad - left;
    y[v] += m.line + m.pad;
    const made = vertices[v];
    if ("child" in made) {
      frame.inner.push([box, x[v], y[v]]);
      return;
    }
    if ("in" in made) {
      frame.ins[made.in] = x[v] + box.ins[made.in];
      y[v] = frame.h - box.h;
    } else if ("out" in made) {
      frame.outs[made.out] = x[v] + box.outs[made.out];
      y[v] = 0;
    }
    for (const [at, d, line] of box.texts) frame.texts.push([x[v] + at, y[v] + d, line]);
  });
  if (state === "one") {
    for (const [t, own] of Object.entries(plan.enter)) if (own in frame.ins) frame.ins[t] = frame.ins[own];
    for (const [t, own] of Object.entries(plan.leave)) if (own in frame.outs) frame.outs[t] = frame.outs[own];
  }
  route(frame, boxes, plan, x, y);
  return frame;
}

function headOf(element, state) {
  const kept = element.lines[0].filter(([, style]) => style === "kept").map(([text]) => `, ${text}`).join("");
  return [element.name + (state === "one" ? ` (one turn of ${element.turns.length})` : "") + kept, "note"];
}

function vertexBox(vertex, plan, outs, ins, both) {
  if ("child" in vertex) return boxOf(vertex.child, both, plan.beside[vertex.child], outs, ins);
  const box = newBox(null);
  box.w = m.wire;
  box.h = 6;
  for (const [port, told] of [["in", "from the turn before"], ["out", "to the next turn"]]) {
    if (!(port in vertex)) continue;
    box.ins = box.outs = {[vertex[port]]: m.wire / 2};
    if ((plan[`turn ${port}`] || []).includes(vertex[port])) {
      box.w = m.wire + width(told, "note") + 2;
      box.h = m.line;
      box.texts = [[m.wire, 11, [told, "note"]]];
    }
  }
  return box;
}

const inOrder = (pairs) => [...new Set((pairs || []).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, t]) => t))];
const space = (box) => box.element ? m.gap : 4;
const portOf = (ports, t, box) => t in ports ? ports[t] : box.w / 2;

function across(boxes, plan, head) {
  const {layers, vertices} = plan, links = boxes.map(() => []), x = boxes.map(() => 0);
  const isWire = (v) => Object.keys(vertices[v]).length === 0 ? 2 : 0;
  for (const {tensor, chain} of plan.edges) {
    for (let k = 0; k + 1 < chain.length; k++) {
      const a = chain[k], b = chain[k + 1], weight = 1 + isWire(a) + isWire(b);
      const d = portOf(boxes[b].ins, tensor, boxes[b]) - portOf(boxes[a].outs, tensor, boxes[a]);
      links[a].push([b, d, weight]);
      links[b].push([a, -d, weight]);
    }
  }
  for (const layer of layers) {
    let at = 0;
    for (const v of layer) { x[v] = at; at += boxes[v].w + space(boxes[v]); }
    for (const v of layer) x[v] -= at / 2;
  }
  for (let turn = 0; turn < m.sweeps; turn++) {
    for (const layer of turn % 2 ? layers : [...layers].reverse()) {
      const mass = layer.map((v) => sum(links[v].map(([, , w]) => w)));
      const wish = layer.map((v, i) => mass[i] ? sum(links[v].map(([u, d, w]) => (x[u] + d) * w)) / mass[i] : x[v]);
      const places = apart(wish, mass.map((w) => w || 0.1), layer.map((v) => boxes[v].w + space(boxes[v])));
      layer.forEach((v, i) => { x[v] = places[i]; });
    }
  }
  const last = layers[layers.length - 1];
  if (last && "out" in vertices[last[0]]) {
    const short = least(layers.slice(0, -1).flat().map((v) => x[v]), 0) + head - x[last[0]];
    if (short > 0) for (const v of last) x[v] += short;
  }
  return x;
}

function apart(wish, weight, widths) {
  let before = 0;
  const blocks = [], offsets = [];
  wish.forEach((want, i) => {
    offsets.push(before);
    blocks.push([(want - before) * weight[i], weight[i], 1]);
    before += widths[i];
    for (let k = blocks.length - 1; k > 0 && blocks[k - 1][0] / blocks[k - 1][1] > blocks[k][0] / blocks[k][1]; k--) {
      const last = blocks.pop();
      last.forEach((value, j) => { blocks[k - 1][j] += value; });
    }
  });
  return blocks.flatMap(([total, mass, count]) => Array(count).fill(total / mass)).map((p, i) => p + offsets[i]);
}

function down(boxes, layers) {
  const y = boxes.map(() => 0);
  let at = 0;
  for (const layer of [...layers].reverse()) {
    const tall = Math.max(...layer.map((v) => boxes[v].h));
    for (const v of layer) y[v] = at + tall - boxes[v].h;
    at += tall + m.row;
  }
  return [y, Math.max(0, at - m.row)];
}

function route(frame, boxes, plan, x, y) {
  const {layers, vertices} = plan, row = {};
  layers.forEach((layer, k) => layer.forEach((v) => { row[v] = k; }));
  const top = layers.map((layer) => Math.min(...layer.map((v) => y[v])));
  const bottom = layers.map((layer) => Math.max(...layer.map((v) => y[v] + boxes[v].h)));
  for (const edge of plan.edges) {
    const t = edge.tensor, chain = edge.chain, a = chain[0], b = chain[chain.length - 1];
    const out = x[a] + portOf(boxes[a].outs, t, boxes[a]), into = x[b] + portOf(boxes[b].ins, t, boxes[b]);
    const points = [[out, y[a] + ("child" in vertices[a] ? boxes[a].body[1] : 0)], [out, top[row[a]]]];
    for (const v of chain.slice(1, -1)) {
      points.push([x[v] + m.wire / 2, bottom[row[v]]], [x[v] + m.wire / 2, top[row[v]]]);
    }
    const low = "child" in vertices[b] ? boxes[b].body[1] + boxes[b].body[3] : boxes[b].h;
    points.push([into, bottom[row[b]]], [into, y[b] + low]);
    if ("in" in vertices[a]) points[0][1] = frame.h;
    if ("out" in vertices[b]) points[points.length - 1][1] = 0;
    frame.wires.push([edge, points, [b, a].map((v) => "child" in vertices[v] && !boxes[v].state)]);
  }
}

// ---------------------------------------------------------------- drawing (svg.py)
const n = (value) => String(Math.round(value * 10) / 10);
const escaped = (text) => text.replace(/[&<>"]/g, (c) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const text = (x, y, [words, style]) => `<text class="${style}" x="${n(x)}" y="${n(y)}"` +
  `${style === "title" ? ' font-weight="bold"' : ""} xml:space="preserve">${escaped(words)}</text>`;

function drawn(box, x, y, side) {
  const e = box.element, [bx, by, bw, bh] = box.body;
  if (side && (e.kind === "parameter" || e.kind === "input") && !e.grad) return "";
  const radius = {op: 6, parameter: 12, input: 12}[e.kind] || 2;
  let parts = `<rect x="${n(x + bx)}" y="${n(y + by)}" width="${n(bw)}" height="${n(bh)}" rx="${radius}"/>`;
  if (box.state) {
    parts += text(x + m.pad, y + m.line, headOf(e, box.state)) +
      `<rect class="handle" x="${n(x)}" y="${n(y)}" width="${n(bw)}" height="${m.line + m.pad}"/>`;
  } else {
    const lines = e.lines[side], start = y + by + (bh - lines.length * m.line) / 2 + 12;
    lines.forEach((line, k) => { parts += text(x + bx + (bw - width(...line)) / 2, start + k * m.line, line); });
  }
  const group = e.kind === "group" || e.kind === "repeat", focus = group ? ' tabindex="0" role="button"' : "";
  let result = `<g class="${e.red ? "red" : e.kind}${box.state ? " open" : ""}" data-element="${e.id}"${focus}>${parts}</g>`;
  for (const [at, d, line] of box.texts) if (!side || line[1] !== "kept") result += text(x + at, y + d, line);
  for (const [edge, points, ends] of box.wires) {
    result += wire(points.map(([a, b]) => [x + a, y + b]), edge, side, ends[side]);
  }
  for (const [inner, a, b] of box.inner) result += drawn(inner, x + a, y + b, side);
  return result;
}

function wire(points, edge, side, end) {
  const own = edge.wires.map((i) => wires[i]), last = points[points.length - 1];
  if (side && !own.some((w) => w.grad)) return "";
  const kept = own.map((w) => w.kept);
  let kind = side ? "" : kept.includes("kept") ? "kept" : kept.includes("alias") ? "alias" : "";
  if (kind) kind += ` of-${elements[tensors[edge.tensor].from].kind}`;
  const [x0, y0] = points[0];
  let path = `M${n(x0)} ${n(y0)}`, head;
  if (points.length === 2) {
    const [x1, y1] = last, middle = n((x0 + x1) / 2);
    path += `C${middle} ${n(y0)} ${middle} ${n(y1)} ${n(x1)} ${n(y1)}`;
    head = side ? arrow(x0, y0, -1, 0) : arrow(x1, y1, 1, 0);
  } else {
    for (let k = 1; k < points.length - 1; k += 2) {
      const [xa, ya] = points[k], [xb, yb] = points[k + 1], middle = n((ya + yb) / 2);
      path += `V${n(ya)}C${n(xa)} ${middle} ${n(xb)} ${middle} ${n(xb)} ${n(yb)}`;
    }
    path += `V${n(last[1])}`;
    head = side ? arrow(x0, y0, 0, 1) : arrow(last[0], last[1], 0, -1);
  }
  const marks = `data-tensor="${edge.tensor}" data-wires="${edge.wires.join(" ")}"`;
  return `<path class="wire ${kind}" d="${path}" ${marks}/>` + (end ? `<path class="head ${kind}" d="${head}" ${marks}/>` : "");
}

function arrow(x, y, dx, dy) {
  return `M${n(x)} ${n(y)}L${n(x - dx * 7 - dy * 3)} ${n(y - dy * 7 - dx * 3)}` +
    `L${n(x - dx * 7 + dy * 3)} ${n(y - dy * 7 + dx * 3)}Z`;
}

function draw() {
  const both = byId("backward").checked, backward = both && !data.error, root = boxOf(data.root, both);
  const piece = (item) => typeof item === "string" ? width(item, "note") : 34;
  const legend = Math.max(...data.legend.map((line) => sum(line.map(piece))));
  const w = Math.max(root.w * (1 + backward) + m.between * backward, legend) + 2 * m.margin, y = m.margin + m.over;
  const h = y + root.h + data.legend.length * m.line + 2 * m.margin;
  let parts = `<g class="forward">${text(m.margin, m.margin + 12, ["forward", "title"])}${drawn(root, m.margin, y, 0)}</g>`;
  if (backward) {
    const x = m.margin + root.w + m.between;
    parts += `<g class="backward">${text(x, m.margin + 12, ["backward", "title"])}${drawn(root, x, y, 1)}</g>`;
    root.inner.filter(([b]) => b.element.kind === "output").forEach(([b, a, c], k) => {
      const ox = m.margin + a + b.body[0] + b.body[2] / 2, oy = y + c + b.body[1], ex = ox + x - m.margin;
      const d = `M${n(ox)} ${n(oy)}V${n(m.margin + m.over - 14 - 4 * (k % 4))}H${n(ex)}V${n(oy)}`;
      parts += `<path class="wire" d="${d}"/><path class="head" d="${arrow(ex, oy, 0, 1)}"/>`;
    });
  }
  data.legend.forEach((line, k) => {
    let x = m.margin;
    const at = y + root.h + m.margin + m.line * (k + 1);
    for (const item of line) {
      if (typeof item === "string") parts += text(x, at, [item, "note"]);
      else if (item[0].startsWith("wire")) parts += `<path class="${item[0]}" d="M${n(x)} ${n(at - 4)}h26"/>`;
      else parts += `<g class="${item[0]}"><rect x="${n(x)}" y="${n(at - 11)}" width="26" height="13" rx="4"/></g>`;
      x += piece(item);
    }
  });
  byId("picture").innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" class="tinytorch-graph" viewBox="0 0 ${n(w)} ${n(h)}" ` +
    `width="${n(w)}" height="${n(h)}"><rect class="ground" width="${n(w)}" height="${n(h)}"/>${parts}</svg>`;
  light();
  mark();
}

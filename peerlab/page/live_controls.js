// The controls of a live page: native ones, named for screen readers; each shows a field of the scenario and changes it.
import { make } from "./dom.js";

const UNITS = ["B", "KiB", "MiB", "GiB"];
const NODES = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export class LiveControls {
  constructor(host, model, known) {
    Object.assign(this, { host, model, known });
    this.staged = this.input("segments", "", "checkbox");
    this.staged.setAttribute("role", "switch");
    this.sides = [make("i", ""), make("i", "")];
    this.staged.nextSibling.append(make("b", "", "Host bottleneck"), ...this.sides);
    this.cache = this.input("switch", "Registration cache", "checkbox");
    this.nodes = this.input("range", "Nodes", "range");
    Object.assign(this.nodes, { min: 0, max: NODES.length - 1, step: 1 });
    this.count = this.text("Nodes, as a number", 5);
    this.size = this.text("Message", 8, true);
    this.cluster = this.list("Cluster", []);
    this.offerClusters();
    this.file = Object.assign(make("input", ""), { type: "file", accept: ".toml", hidden: true });
    host.append(this.file);
    this.path = this.list("Data path", []);
    this.collective = this.list("Operation", known.collectives);
    this.noise = this.list("Noise", [...known.noise.map(([words], number) => [words, number]), ["other noise", ""]]);
    this.noise.lastChild.hidden = true;
    this.chips = host.appendChild(make("span", "pl-live-chips"));
    this.said = host.appendChild(make("span", "pl-choices-note"));
    this.said.setAttribute("role", "status");
    this.listen();
    this.show();
  }

  listen() {
    this.typing = null; // a text that somebody types stays, whatever is answered meanwhile
    for (const text of [this.count, this.size]) {
      text.addEventListener("input", () => (this.typing = text));
      text.addEventListener("change", () => (this.typing = null));
    }
    const on = (input, event, changes) => input.addEventListener(event, () => this.change(changes(input), input === this.nodes ? "nodes" : "other"));
    on(this.staged, "change", () => ({ path: this.otherPath() }));
    on(this.cache, "change", ({ checked }) => ({ registration: checked ? "cached" : "per-transfer" }));
    on(this.nodes, "input", ({ value }) => ({ nodes: NODES[value] }));
    on(this.count, "change", ({ value }) => ({ nodes: Number(value) || 0 }));
    on(this.size, "change", ({ value }) => ({ message_bytes: value }));
    this.cluster.addEventListener("change", ({ target }) => (target.value ? this.choose(target.value) : this.file.click()));
    this.file.addEventListener("change", () => this.take(this.file.files[0]));
    on(this.path, "change", ({ value }) => ({ path: value }));
    on(this.noise, "change", ({ value }) => this.noiseOf(value));
    on(this.collective, "change", ({ value }) => ({ collective: value }));
    this.model.on("fields", () => this.show());
    this.model.on("cluster", (cluster) => this.add(cluster));
    this.model.on("note", (text) => this.note(text));
    this.model.on("flip", (name) => (name === "host" ? this.staged : this.cache).click());
  }

  change(changes, control) {
    this.lacking = "";
    this.model.change(changes, control);
  }

  choose(cluster) {
    this.change({ cluster, path: this.bestPath(cluster) });
  }

  // A cluster file of the reader's own, chosen or dropped; Python reads it in this tab.
  async take(file) {
    this.show();
    if (file) this.model.ask({ kind: "cluster", name: file.name, text: await file.text() });
    this.file.value = "";
  }

  add(cluster) {
    this.known.clusters = [...this.known.clusters.filter(({ name }) => name !== cluster.name), cluster];
    this.offerClusters();
    this.choose(cluster.name);
  }

  offerClusters() {
    this.cluster.replaceChildren(...this.known.clusters.map(({ name, title }) => new Option(title, name)), new Option("your own file", ""));
  }

  note(text) {
    this.said.textContent = [text, this.lacking].filter(Boolean).join(" ");
  }

  // A link's fields, such as "cluster=p5&nodes=16"; those that are none here are said.
  follow(link) {
    const asked = [...new URLSearchParams(link)], known = ([name]) => name in this.model.first || name in this.known.linkable;
    const given = asked.filter(known), lacking = asked.filter((pair) => !known(pair)).map((pair) => pair.join("="));
    this.lacking = lacking.length && link !== this.link ? `The link asks for ${lacking.join(", ")}, which a browser tab does not have: open the notebook for it.` : "";
    this.note("");
    if (!given.length || link === this.link) return;
    const fields = Object.fromEntries(given);
    if (fields.nodes) fields.nodes = Number(fields.nodes) || 0;
    if (fields.cluster && !this.of(fields.cluster)) return this.note(`The link names ${fields.cluster}, which is no cluster here.`);
    if (fields.cluster && !fields.path) fields.path = this.bestPath(fields.cluster);
    this.model.change(fields);
  }

  of(cluster) {
    return this.known.clusters.find(({ name }) => name === cluster);
  }

  // The way past the host where the cluster has one.
  bestPath(cluster) {
    const { past, paths } = this.of(cluster);
    return past[0] ?? paths[0].path;
  }

  otherPath() {
    const { cluster, path } = this.model.fields, { through, past } = this.of(cluster);
    return (through.includes(path) ? past : through)[0] ?? path;
  }

  input(kind, label, type) {
    const box = make("label", `pl-choice pl-${kind}`), input = make("input", ""), name = make("span", "pl-name", label);
    input.type = type;
    if (kind === "switch") input.setAttribute("role", "switch");
    box.append(...(kind === "range" ? [name, input] : [input, name]));
    this.host.append(box);
    return input;
  }

  text(label, size, named = false) {
    const box = make("label", "pl-choice"), input = make("input", "");
    Object.assign(input, { type: "text", size });
    if (named) box.append(make("span", "pl-name", label));
    else input.setAttribute("aria-label", label);
    box.append(input);
    this.host.append(box);
    return input;
  }

  list(label, options) {
    const box = make("label", "pl-choice"), input = make("select", "");
    input.setAttribute("aria-label", label);
    for (const [text, value] of options) input.append(new Option(text, value));
    box.append(input);
    this.host.append(box);
    return input;
  }

  // The fields of a kind of noise: those of the other kinds are set back.
  noiseOf(number) {
    const none = Object.assign({}, ...this.known.noise.map(([, fields]) => fields));
    for (const name in none) none[name] = 0;
    return { ...none, ...this.known.noise[number][1] };
  }

  showNoise() {
    const { fields } = this.model, shown = this.known.noise.findIndex((_, number) => Object.entries(this.noiseOf(number)).every(([name, amount]) => (fields[name] ?? 0) === amount));
    this.noise.value = shown < 0 ? "" : shown;
  }

  // A chip for each field that a link set and no control shows; it takes the field back.
  showChips() {
    const others = Object.entries(this.known.linkable).filter(([name]) => name in this.model.fields);
    this.chips.replaceChildren(
      ...others.map(([name, { label, usual }]) => {
        const chip = Object.assign(make("button", "pl-live-button", `${label}: ${this.model.fields[name]} \u00d7`), { type: "button", title: `Take back: ${label}` });
        chip.addEventListener("click", () => this.model.change({ [name]: usual }));
        return chip;
      }),
    );
  }

  show() {
    const { cluster, path, registration, nodes, message_bytes, collective } = this.model.fields, { paths, through, past } = this.of(cluster);
    this.path.replaceChildren(...paths.map((way) => new Option(way.title, way.path)));
    this.path.value = path;
    this.cluster.value = cluster;
    this.collective.value = collective;
    this.showNoise();
    const direct = past.includes(path) ? path : past[0];
    this.staged.checked = through.includes(path);
    this.staged.disabled = !through.length || !past.length;
    this.sides[0].textContent = through.length ? "Through host" : "not through host";
    this.sides[1].textContent = paths.find((way) => way.path === direct)?.title ?? "no direct path";
    this.cache.checked = registration !== "per-transfer";
    const nearest = NODES.reduce((best, count, i) => (Math.abs(count - nodes) < Math.abs(NODES[best] - nodes) ? i : best), 0);
    if (document.activeElement !== this.nodes) this.nodes.value = nearest;
    this.nodes.setAttribute("aria-valuetext", `${nodes} nodes`);
    const size = typeof message_bytes === "number" ? inUnits(message_bytes) : message_bytes;
    if (this.typing !== this.count) this.count.value = nodes;
    if (this.typing !== this.size) this.size.value = size;
    this.showChips();
    this.link = new URLSearchParams({ ...this.model.fields, message_bytes: size }).toString();
    try {
      history.replaceState(null, "", `#${this.link}`);
    } catch {
      // a frame without an address of its own has no link
    }
  }
}

function inUnits(bytes) {
  const power = bytes ? Math.min(3, Math.floor(Math.log2(bytes) / 10)) : 0;
  return bytes % 1024 ** power ? `${bytes} B` : `${bytes / 1024 ** power} ${UNITS[power]}`;
}

// A network with neighbours: ports as glasses, links that pauses or missing credits stop, and the same question on other fabrics beside it.
import { make } from "./dom.js";
import { fitFrame } from "./frame.js";
import { followTheme } from "./frame_theme.js";
import { beginPlayed, forControl, onKeys } from "./played.js";
import { Player } from "./player.js";
import { PortCells } from "./port_cells.js";
import { PortSceneView } from "./port_scene.js";
import { svgShape } from "./svg.js";
import { sayTime } from "./words.js";

/**
 * @typedef {object} PortParcel What the page of a network with neighbours gets
 * @property {string} about
 * @property {string} source
 * @property {string[]} columns
 * @property {number} played_us
 * @property {PortParcelLink[]} links
 * @property {PortParcelFlow[]} flows
 * @property {number[]} leaves
 * @property {PortParcelFabric[]} fabrics
 */
/**
 * @typedef {object} PortParcelLink A directed link, and the port that sends over it
 * @property {string} name
 * @property {string} kind
 * @property {number} leaf
 * @property {number} host
 */
/**
 * @typedef {object} PortParcelFlow Who sends to whom
 * @property {number} src
 * @property {number} dst
 * @property {boolean} own
 */
/**
 * @typedef {object} PortParcelCells Cells by when they were sent, port by port
 * @property {number} count
 * @property {Object<string, Column>} arrays
 */
/**
 * @typedef {object} PortParcelFabric One fabric, and what happened on it
 * @property {string} title
 * @property {string} does
 * @property {string} time
 * @property {string} share
 * @property {string[]} figures
 * @property {string} words
 * @property {number} length_us
 * @property {number} alone_us
 * @property {boolean} ends
 * @property {Object<string, number>} marks
 * @property {PortParcelCells} cells
 * @property {number[][]} pauses
 * @property {number[][]} starved
 * @property {number[][]} signals
 * @property {number[][]} lost
 */
const WATCHED_S = 20; // the longest scene lasts so long at the usual speed
const STRIP = { row: 18, left: 176, letters: 12, most: 3 };

const HTML = `
<h1></h1>
<div class="ts-bar"><div class="pl-player" role="group" aria-label="Player"></div></div>
<div class="np-head"><section class="ts-card np-hero"><h2></h2><p class="ts-value"><b></b><small></small></p><p class="ts-note"></p></section>
<table class="np-fabrics"><caption>The same question on each fabric</caption><thead></thead><tbody></tbody></table></div>
<svg class="np-scene" role="img"></svg>
<svg class="np-strip" role="img" aria-label="How long each fabric takes, and which ports were stopped"></svg>
<p class="np-key"></p>
<p class="ts-source"></p>`;

class PortsPage {
  constructor(host, data, wanted, palettes) {
    Object.assign(this, { root: host, data, wanted });
    host.innerHTML = HTML;
    this.find("h1").textContent = data.about;
    this.find(".ts-source").textContent = data.source;
    this.cells = data.fabrics.map(({ cells }) => new PortCells(cells, data.links.length));
    this.peaks = this.cells.map((cells) => cells.peaks());
    this.scene = new PortSceneView(this.find(".np-scene"), data);
    this.player = new Player(this.find(".pl-player"), { onCommand: () => {} });
    this.player.wanted = false;
    this.length = Math.max(...data.fabrics.map(({ length_us }) => length_us));
    this.played = data.played_us;
    this.fillTable();
    this.fillKey();
    followTheme(wanted.theme, palettes);
    this.choose(0);
    const moments = this.data.fabrics.flatMap(({ pauses, starved }) => [...pauses, ...starved].map(([, from]) => from)).concat(0, this.played).filter((time) => time <= this.played).sort((a, b) => a - b);
    const events = { start: moments, through: moments, between: (from, to, visit) => moments.forEach((time, i) => time >= from && time <= to && visit(i, 0)) };
    this.player.load(this, { length: this.played, pace: this.played / WATCHED_S, key: `${this.played}`, events });
    this.player.seek(this.played * 0.2); // queues have grown by then
    this.listen();
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  get fabric() {
    return this.data.fabrics[this.number];
  }

  fillTable() {
    const { fabrics, columns } = this.data, head = document.createElement("tr");
    head.append(...["fabric", ...columns].map((name) => Object.assign(make("th", "", name), { scope: "col" })));
    this.find(".np-fabrics thead").append(head);
    this.find(".np-fabrics tbody").append(...fabrics.map(({ title, figures }, i) => {
      const row = document.createElement("tr"), label = make("label", ""), choice = Object.assign(make("input", ""), { type: "radio", name: "np-fabric", value: i });
      choice.addEventListener("change", () => {
        this.choose(i);
        this.player.draw();
      });
      label.append(choice, ` ${title}`);
      const name = Object.assign(make("th", ""), { scope: "row" });
      name.append(label);
      row.append(name, ...figures.map((figure) => make("td", "", figure)));
      row.addEventListener("click", () => choice.checked || choice.click());
      return row;
    }));
  }

  fillKey() {
    const key = this.find(".np-key"), own = this.data.fabrics[0].alone_us ? "AllReduce" : "victim";
    for (const [className, words] of [["np-own", own], ["np-other", "neighbours"], ["np-again", "sent again"], ["np-pause", "a pause on its way"], ["np-go", "its end"]]) key.append(make("i", className), make("span", "", words));
    key.append(make("span", "", "A tick on a glass: where the fabric acts (credits, XOFF and XON; Kmin; full). C: the rate of a host."));
  }

  // Shows one fabric; the clock stays.
  choose(number) {
    this.number = number;
    const { title, does, ends, length_us, alone_us, share, words } = this.fabric, hero = this.find(".np-hero");
    this.root.querySelectorAll(".np-fabrics tbody tr").forEach((row, i) => {
      row.classList.toggle("np-chosen", i === number);
      row.querySelector("input").checked = i === number;
    });
    const slower = alone_us ? length_us / alone_us : 0;
    hero.querySelector("h2").textContent = alone_us ? `The AllReduce on ${title}` : `The victim on ${title}`;
    hero.querySelector("b").textContent = alone_us ? `${ends ? "" : "over "}${slower.toFixed(2)}×` : share;
    hero.querySelector("small").textContent = alone_us ? " as long as alone" : " of a host's rate";
    const times = ends ? `${sayTime(alone_us)} alone, ${sayTime(length_us)} here` : `${sayTime(alone_us)} alone; cut after ${sayTime(length_us)}`;
    hero.querySelector(".ts-note").textContent = alone_us ? `${times}: ${does}` : does;
    this.find(".np-scene").setAttribute("aria-label", words);
    this.scene.show(this.fabric, this.cells[number], this.peaks[number]);
    this.paintStrip();
  }

  // Times of all fabrics on one axis; below, when ports of the chosen one were stopped.
  paintStrip() {
    const host = this.find(".np-strip"), { fabrics } = this.data, width = host.clientWidth || 1000, right = width - 90;
    const stopped = new Map();
    for (const [rows, words] of [[this.fabric.pauses, "paused"], [this.fabric.starved, "no credits"]])
      for (const [link, from, until] of rows) stopped.set(link, [...(stopped.get(link) ?? []), [from, until, words]]);
    const total = (rows) => rows.reduce((sum, [from, until]) => sum + until - from, 0);
    const worst = [...stopped].sort((a, b) => total(b[1]) - total(a[1])).slice(0, STRIP.most), high = STRIP.row * (fabrics.length + worst.length) + 24;
    host.setAttribute("viewBox", `0 0 ${width} ${high}`);
    host.style.height = `${high}px`;
    host.replaceChildren();
    this.x = (time) => STRIP.left + ((right - STRIP.left) * time) / this.length;
    const text = (x, y, words, more) => (svgShape("text", { x, y: y + 14, "font-size": STRIP.letters, fill: "var(--pl-muted)", ...more }, host).textContent = words);
    fabrics.forEach(({ title, length_us, alone_us, time }, i) => {
      const y = i * STRIP.row, here = i === this.number;
      text(STRIP.left - 8, y, title, { "text-anchor": "end", ...(here ? { fill: "var(--pl-ink)", "font-weight": 650 } : {}) });
      svgShape("rect", { x: this.x(0), y: y + 4, width: this.x(length_us) - this.x(0), height: 12, rx: 3, fill: "var(--pl-network)", opacity: here ? 1 : 0.45 }, host);
      if (alone_us) svgShape("rect", { x: this.x(alone_us) - 1, y: y + 2, width: 2, height: 16, fill: "var(--pl-ink)" }, host);
      text(this.x(length_us) + 6, y, time, here ? { fill: "var(--pl-ink)", "font-weight": 650 } : {});
    });
    if (fabrics.some(({ alone_us }) => alone_us)) text(this.x(Math.max(...fabrics.map(({ alone_us }) => alone_us))), STRIP.row * fabrics.length - 2, "a line: alone", { "text-anchor": "start", dx: 4, "font-size": 11 });
    worst.forEach(([link, rows], i) => {
      const y = STRIP.row * (fabrics.length + i) + 14;
      text(STRIP.left - 8, y, `${this.scene.linkName(link)}: ${rows[0][2]}`, { "text-anchor": "end" });
      svgShape("rect", { x: this.x(0), y: y + 6, width: this.x(this.fabric.length_us) - this.x(0), height: 8, rx: 2, fill: "var(--pl-panel)" }, host);
      const d = rows.map(([from, until]) => `M${this.x(from).toFixed(1)} ${y + 6}H${Math.max(this.x(until), this.x(from) + 0.4).toFixed(1)}v8H${this.x(from).toFixed(1)}z`).join("");
      svgShape("path", { d, fill: "var(--pl-hot)" }, host);
      text(right + 6, y, sayTime(total(rows)));
    });
    this.now = svgShape("line", { stroke: "var(--pl-ink)", "stroke-width": 2, y1: 0, y2: high - 12 }, host);
  }

  draw(time, flow) {
    const now = Math.min(time, this.fabric.length_us);
    this.now?.setAttribute("x1", this.x(now));
    this.now?.setAttribute("x2", this.x(now));
    this.scene.draw(now, flow, this.player?.playing ?? false);
  }

  listen() {
    const keys = { " ": () => this.player.toggle(), ArrowLeft: () => this.player.step(-1), ArrowRight: () => this.player.step(1), Home: () => this.player.seek(0), n: () => this.turn(1), p: () => this.turn(-1) };
    onKeys(keys, forControl);
    let width = 0;
    new ResizeObserver(() => {
      const now = this.find(".np-scene").clientWidth;
      if (now === width) return;
      width = now;
      this.choose(this.number);
      this.player.draw();
      if (this.wanted.mode === "frame") fitFrame(this.root);
    }).observe(this.find(".np-scene"));
  }

  turn(by) {
    const { length } = this.data.fabrics;
    this.choose((this.number + by + length) % length);
    this.player.draw();
  }
}

beginPlayed("np", PortsPage);

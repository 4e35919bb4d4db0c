// A network with neighbours: ports as glasses, links that pauses or missing credits stop, and the same question on other fabrics beside it.
import { barOf, measure } from "./bars.js";
import { make } from "./dom.js";
import { beginPlayed, choiceOf, forControl, PlayedPage, writeWhole } from "./played.js";
import { PortCells } from "./port_cells.js";
import { PortSceneView } from "./port_scene.js";
import { PortStrip } from "./port_strip.js";
import { sayBytes, sayTime } from "./words.js";

/**
 * @typedef {object} PortParcel What the page of a network with neighbours gets
 * @property {string} about
 * @property {string} source
 * @property {string[]} columns
 * @property {number} played_us
 * @property {number} shared
 * @property {number} victim
 * @property {string} who
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
 * @typedef {object} PortColumns Columns of one length: cells, credits, rates
 * @property {number} count
 * @property {Object<string, Column>} arrays
 */
/**
 * @typedef {object} PortParcelFabric One fabric, and what happened on it
 * @property {string} title
 * @property {string} does
 * @property {string} time
 * @property {string} share
 * @property {number} bar
 * @property {number} tick
 * @property {string[]} figures
 * @property {string} happened
 * @property {string} words
 * @property {number} length_us
 * @property {number} alone_us
 * @property {boolean} ends
 * @property {Object<string, number>} marks
 * @property {PortColumns} cells
 * @property {PortColumns} credits
 * @property {PortColumns} rates
 * @property {number} pool
 * @property {number[][]} pauses
 * @property {number[][]} starved
 * @property {number[][]} signals
 * @property {number[][]} lost
 */
const WATCHED_S = 20; // the longest scene lasts so long at the usual speed

const HTML = `
<h1></h1>
<p class="np-about"></p>
<div class="ts-bar"><div class="pl-player" role="group" aria-label="Player"></div></div>
<div class="np-head"><section class="ts-card np-hero"><h2></h2><p class="ts-value"><b></b><small></small></p><p class="ts-note"></p></section>
<div class="np-scroll"><table class="np-fabrics"><caption class="np-hidden">The same question on each fabric</caption><thead></thead><tbody></tbody></table></div></div>
<p class="np-key"></p>
<svg class="np-scene" role="img"></svg>
<svg class="np-strip" role="img" aria-label="What waits at the shared port of each fabric in time, and which ports were stopped"></svg>
<footer class="np-foot"><p class="ts-source"></p></footer>`;

const LETTERS = { page: 13, slide: 14 }; // px; a slide is fitted into its window by a zoom that leaves 12

class PortsPage extends PlayedPage {
  constructor(host, data, wanted, palettes) {
    super(host, data, wanted, palettes, HTML);
    this.slide = wanted.mode === "slide";
    this.film = 0; // microseconds a second, for a video whose frames are taken one by one
    this.find("h1").textContent = data.about;
    this.find(".np-about").textContent = data.about;
    writeWhole(this.find(".ts-source"), data.source);
    this.cells = data.fabrics.map((fabric) => new PortCells(fabric, data.links.length, data.flows.length));
    this.peaks = this.cells.map((cells) => cells.peaks());
    this.scene = new PortSceneView(this.find(".np-scene"), data, this.slide ? { most: 5, letters: LETTERS.slide } : { most: 10, letters: LETTERS.page });
    const { cells, peaks, scene } = this;
    this.strip = new PortStrip(this.find(".np-strip"), data, { cells, peaks, linkName: (link) => scene.linkName(link), choose: (i) => this.turnTo(i), letters: this.scene.letters, slide: this.slide });
    this.played = data.played_us;
    this.fillTable();
    this.choose(0);
    const moments = this.data.fabrics.flatMap(({ pauses, starved }) => [...pauses, ...starved].map(([, from]) => from)).concat(0, this.played).filter((time) => time <= this.played).sort((a, b) => a - b);
    this.load(this.played, this.played / WATCHED_S, `${this.played}`, moments);
    this.player.seek(this.played * 0.2); // queues have grown by then
    this.listen();
    this.keepInAddress({ fabric: choiceOf(() => data.fabrics.map(({ title }) => title), () => this.number, (i) => this.turnTo(i)) });
  }

  get fabric() {
    return this.data.fabrics[this.number];
  }

  fillTable() {
    const { fabrics, columns, links, shared } = this.data, head = document.createElement("tr"), [{ tick: alone }] = fabrics;
    const most = links[shared].kind === "down" ? "waiting at the port, at most" : "waiting at the trunk, at most";
    head.append(...["fabric", ...columns, most].map((name) => Object.assign(make("th", "", name), { scope: "col" })));
    if (alone >= 0) head.children[1].replaceChildren(headOfBars(columns[0]));
    this.find(".np-fabrics thead").append(head);
    this.find(".np-fabrics tbody").append(...fabrics.map(({ title, figures, happened, bar, tick }, i) => {
      const row = document.createElement("tr"), label = make("label", ""), choice = Object.assign(make("input", ""), { type: "radio", name: "np-fabric", value: i });
      choice.addEventListener("change", () => this.turnTo(i));
      label.append(choice, ` ${title}`);
      const name = Object.assign(make("th", ""), { scope: "row" });
      name.append(label);
      const [compared, ...others] = figures, cell = make("td", "");
      cell.append(measure(barOf(bar, tick), compared));
      row.append(name, cell, ...[...others, sayBytes(this.peaks[i].ports[shared])].map((figure) => make("td", "", figure)));
      row.title = happened;
      row.addEventListener("click", () => choice.checked || choice.click());
      return row;
    }));
  }

  // The key of this fabric, with room for that of each: none moves the drawing below it.
  fillKey() {
    const key = this.find(".np-key"), fill = (number) => key.replaceChildren(...this.keyOf(number));
    key.style.minHeight = "";
    const highs = this.data.fabrics.map((_, number) => {
      fill(number);
      return key.clientHeight;
    });
    key.style.minHeight = `${Math.max(...highs)}px`;
    fill(this.number);
  }

  keyOf(number) {
    const { pool, pauses, starved, lost, marks, alone_us } = this.data.fabrics[number], { flows, who } = this.data, own = alone_us ? "AllReduce" : who, rates = this.cells[number].hasRates;
    const entries = [["np-own", own, flows.some((flow) => flow.own)], ["np-other", "neighbours", flows.some((flow) => !flow.own)], ["np-again", "sent again", lost.length], ["np-gone", "refused: an earlier cell is missing", lost.length], ["np-back", "credit returned", pool], ["np-mark", "most that credits allow", marks.credits], ["np-stopped", "link without credits", starved.length]];
    entries.push(["np-stopped", "paused link", pauses.length], ["np-pause", "a pause on its way", pauses.length], ["np-go", "end of a pause", pauses.length], ["np-notch", "marked", rates], ["np-cnp", "notification to a sender", rates], ["np-rate", "what a host may send", rates]);
    return entries.filter(([, , there]) => there).map(([className, words]) => {
      const pair = make("span", "np-pair", words);
      pair.prepend(make("i", className));
      return pair;
    });
  }

  // Shows one fabric; the clock stays.
  choose(number) {
    this.number = number;
    const { title, does, happened, ends, length_us, alone_us, share, words } = this.fabric, hero = this.find(".np-hero");
    this.root.querySelectorAll(".np-fabrics tbody tr").forEach((row, i) => {
      row.classList.toggle("np-chosen", i === number);
      row.querySelector("input").checked = i === number;
    });
    const slower = alone_us ? length_us / alone_us : 0;
    hero.querySelector("h2").textContent = alone_us ? `The AllReduce on ${title} takes${ends ? "" : " over"}` : `The ${this.data.who} on ${title} has`;
    hero.querySelector("b").textContent = alone_us ? `${slower.toFixed(2)}×` : share;
    hero.querySelector("small").textContent = alone_us ? " as long as alone" : " of a host's rate";
    hero.querySelector(".ts-value").title = alone_us ? `alone ${sayTime(alone_us)}` : ""; // the mark on the bars shows it
    hero.querySelector(".ts-note").textContent = `${does[0].toUpperCase()}${does.slice(1)}. ${happened}`;
    this.player.isPart = this.played < length_us;
    this.find(".np-scene").setAttribute("aria-label", words);
    // a slide's title is what it comes to
    if (this.slide) this.find("h1").textContent = alone_us ? `${title}: the AllReduce takes ${ends ? "" : "over "}${slower.toFixed(2)} times as long as alone` : `${title}: the ${this.data.who} has ${share} of a host's rate`;
    this.scene.show(this.fabric, this.cells[number], this.peaks[number]);
    this.fillKey();
    this.strip.show(number);
    this.fillSlide();
  }

  draw(time, flow) {
    const now = Math.min(time, this.fabric.length_us);
    this.strip.now(now);
    this.scene.draw(now, this.film || flow, this.film > 0 || (this.player?.playing ?? false));
  }

  listen() {
    this.listenToKeys({ n: () => this.turn(1), p: () => this.turn(-1) }, forControl);
    this.paintWhenSized([".np-scene"], () => this.choose(this.number));
  }

  turn(by) {
    const { length } = this.data.fabrics;
    this.turnTo((this.number + by + length) % length);
  }

  turnTo(number) {
    this.choose(number);
    this.player.draw();
  }
}

// What the bars below show, and beside it the sign of the mark on them with its name.
function headOfBars(shown) {
  const both = make("div", "np-barhead", shown), sign = make("small", "", "alone");
  sign.prepend(make("s", ""));
  both.append(sign);
  return both;
}

beginPlayed("np", PortsPage);

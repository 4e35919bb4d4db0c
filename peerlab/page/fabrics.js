// Transports side by side on one clock: a bar for each on one axis of time, unless they are alike; and for some of them where their slices are.
import { Delivered } from "./delivered.js";
import { make, showWords } from "./dom.js";
import { ticks } from "./labels.js";
import { unpacked } from "./packed.js";
import { widthOf } from "./places.js";
import { beginPlayed, forControl, PlayedPage } from "./played.js";
import { otherHill, RaceRoad, roadWords } from "./race_road.js";
import { svgShape, svgText } from "./svg.js";
import { sayBytes, sayTime } from "./words.js";

/**
 * @typedef {object} FabricsParcel What the page of transports side by side gets
 * @property {string} about
 * @property {string} source
 * @property {string} counts
 * @property {string} headline
 * @property {string} note
 * @property {string} details
 * @property {string} words
 * @property {string[]} columns
 * @property {number[]} seen
 * @property {number} end_us
 * @property {string[][]} colours
 * @property {TransportParcel[]} transports
 */
/**
 * @typedef {object} TransportParcel One transport
 * @property {string} name
 * @property {string} title
 * @property {string[]} figures
 * @property {number} finish_us
 * @property {number} header_us
 * @property {number} total
 * @property {Column} times
 * @property {Column} shares
 * @property {string} waits
 * @property {boolean} proxy
 * @property {Road} road
 */
const WATCHED_S = 12; // the slowest lasts so long at the usual speed
const ALIKE = 1.005; // times that differ by half a per cent are the same, as in the sentence below the headline
const MOST_ROADS = 4;
const TIME = 0; // its column is in no table: times stand at the bars
const BAR = { head: 18, least: 30, most: 48, all: 150, gap: 10, left: 118, narrow: 86, share: 56, apart: 6, letters: 12, foot: 20, tick: 64 }; // px
const REST = 0.45; // opacity of what is still to come
const PAD = 12; // px, inside a card
const ROAD = { wide: 760, high: 240, lone: 178, largest: 1.2, most: 1.5 }; // px: a road that is so wide and higher (by itself: so high) has larger words, at most so many times (by itself: most)
const POINTS = 200; // of a line of delivered bytes
const ROUNDING_US = 1e-6; // of the player's clock
const SEEN = 0.002; // a smaller part of the axis has no colour that one could look for in the key
const LEVEL = 0.002; // a smaller share of all bytes is nothing that one is ahead by

const HTML = `
<h1></h1>
<p class="np-about"></p>
<div class="ts-bar"><div class="pl-player" role="group" aria-label="Player"></div></div>
<div class="np-head"><section class="ts-card np-hero"><h2></h2><p class="ts-value"><b></b><small></small></p><p class="ts-note"></p></section>
<div class="np-scroll"><table class="np-fabrics"><caption>Ticked: its data path is shown below</caption><thead></thead><tbody></tbody></table></div></div>
<svg class="np-strip fb-bars" role="img"></svg>
<p class="np-key"><span class="np-pair fb-time"><i class="np-other"></i>time played</span><span class="np-pair fb-time"><i class="fb-rest"></i>still to come</span>
<span class="np-pair fb-cost"><i class="fb-headers"></i>what headers cost, together</span><span class="np-pair"><i class="fb-line"></i>bytes delivered: a full bar is all of them</span><span class="fb-path">slices below:</span></p>
<div class="fb-roads"></div>
<footer class="fb-foot"><div class="fb-folds"><details class="fb-why"><summary></summary><p></p></details><details class="fb-more"><summary></summary><table class="np-fabrics"><thead></thead><tbody></tbody></table></details></div><p class="ts-source"></p></footer>`;
const LANE = `<h2></h2><p class="fb-done"><b></b> delivered</p><p class="fb-gap"></p><svg role="img"></svg>`;

class FabricsPage extends PlayedPage {
  constructor(host, data, wanted, palettes) {
    super(host, data, wanted, palettes, HTML);
    this.film = 0; // microseconds a second, for a video whose frames are taken one by one
    for (const { road } of data.transports) for (const [name, text] of Object.entries(road.slices.arrays)) road.slices.arrays[name] = unpacked(text);
    this.delivered = data.transports.map((transport) => new Delivered(transport));
    this.apart = data.transports.at(-1).finish_us > ALIKE * data.transports[0].finish_us;
    this.shown = this.apart ? [0, data.transports.length - 1] : data.transports.map((_, i) => i); // the fastest and the slowest; of those that are alike all, whose one road is the first one's
    this.roads = new Map();
    this.fill();
    this.paint();
    const moments = [...new Set(this.delivered.flatMap(({ times }) => [...times]))].concat(data.transports.map(({ finish_us }) => finish_us)).sort((a, b) => a - b);
    this.load(data.end_us, data.end_us / WATCHED_S, `${data.end_us}`, moments);
    this.player.seek(this.furthestApart());
    this.listenToKeys({}, forControl);
    this.paintWhenSized([".fb-bars", ".fb-roads"], () => this.paint());
    this.keepInAddress({ show: { now: () => this.shown.map((i) => data.transports[i].name).join(), go: (words) => this.showNamed(words) } });
  }

  // What does not change while it plays.
  fill() {
    const { about, source, headline, note, details, words, columns, transports } = this.data, hero = this.find(".np-hero"), slide = this.wanted.mode === "slide";
    this.find("h1").textContent = slide ? headline : about;
    this.find(".np-about").textContent = about;
    this.find(".ts-source").textContent = source;
    this.find(".fb-line").parentNode.title = this.data.counts;
    this.find(".fb-cost").hidden = !this.apart || !transports.some(({ header_us }) => header_us > SEEN * this.data.end_us);
    for (const pair of this.root.querySelectorAll(".fb-time")) pair.hidden = !this.apart;
    this.root.classList.toggle("fb-alike", !this.apart);
    this.find(".fb-line").parentNode.hidden = !this.apart;
    this.find(".fb-bars").setAttribute("aria-label", words);
    const [fast, slow] = [transports[0], transports.at(-1)];
    const times = slow.finish_us / fast.finish_us, { apart } = this;
    hero.querySelector("h2").textContent = apart ? `The slowest, ${slow.title}, takes` : transports.length > 1 ? `${transports.length > 2 ? "All" : "Both"} transports take` : `${fast.title} takes`;
    hero.querySelector("b").textContent = apart ? `${times.toFixed(2)}×` : sayTime(fast.finish_us);
    hero.querySelector("small").textContent = apart ? ` as long as ${fast.title}` : "";
    hero.querySelector(".ts-note").textContent = note;
    this.find(".fb-path").append(...this.data.colours.map(([role, words]) => {
      const pair = make("span", "np-pair", words);
      pair.prepend(Object.assign(make("i", ""), { style: `background: var(--pl-${role})` }));
      return pair;
    }));
    const { seen } = this.data, folded = columns.map((_, i) => i).filter((i) => i !== TIME && !seen.includes(i)), fold = this.find(".fb-more"), why = this.find(".fb-why");
    this.find("thead").append(headOf(seen.map((i) => columns[i])));
    const rows = transports.map(({ title, figures }) => [title, seen.map((i) => figures[i])]);
    this.ticked = rows.map(([title, figures], number) => this.row(title, figures, number)).filter(Boolean);
    this.find("caption").hidden = !apart;
    if (!apart && rows.length === 2) this.find("tbody").append(rowOf("difference", rows[0][1].map((figure, i) => difference(figure, rows[1][1][i])))); // else one compares each with the one above it
    why.hidden = !details;
    why.firstChild.textContent = `Why the times ${apart ? "differ" : "are alike"}`;
    why.lastChild.textContent = details;
    fold.querySelector("summary").textContent = folded.map((i) => columns[i]).join(", ");
    fold.querySelector("thead").append(headOf(folded.map((i) => columns[i])));
    fold.querySelector("tbody").append(...transports.map(({ title, figures }) => rowOf(title, folded.map((i) => figures[i]))));
  }

  // A row of the table; returns its box, which is ticked where its data path is shown. Those that are alike share one and have no box.
  row(title, figures, i) {
    const row = this.find("tbody").appendChild(rowOf(title, figures));
    if (!this.apart) return null;
    const label = make("label", ""), box = Object.assign(make("input", ""), { type: "checkbox" });
    box.addEventListener("change", () => this.toggle(i));
    label.append(box, ` ${title}`);
    row.firstChild.replaceChildren(label);
    row.addEventListener("click", ({ target }) => label.contains(target) || box.click());
    return box;
  }

  toggle(i) {
    this.show(this.shown.includes(i) ? this.shown.filter((other) => other !== i) : [...this.shown, i]);
  }

  // Shows the data paths of some transports, the fastest first; one at least and four at most.
  show(numbers) {
    if (this.apart && numbers.length && numbers.length <= MOST_ROADS) this.shown = [...numbers].sort((a, b) => a - b);
    this.paint();
    this.player.draw();
  }

  // Shows those that a link names, and returns whether this page holds all of them.
  showNamed(words) {
    const names = this.data.transports.map(({ name }) => name), numbers = [...new Set(words.split(",").map((word) => names.indexOf(word.trim().toLowerCase())))];
    if (numbers.includes(-1) || (this.apart && numbers.length > MOST_ROADS)) return false;
    this.show(numbers);
    return true;
  }

  paint() {
    const { shown } = this, full = this.apart && shown.length === MOST_ROADS;
    this.ticked.forEach((box, i) => {
      box.checked = shown.includes(i);
      box.disabled = !box.checked && full;
      box.setAttribute("aria-disabled", String(box.checked && shown.length === 1)); // the last one stays, and looks like what is shown
      box.closest("tr").classList.toggle("np-chosen", box.checked);
    });
    if (this.apart) this.paintBars(); // bars of those that are alike would be the player's once more
    this.paintRoads();
    this.fillSlide();
  }

  // ---- all of them on one axis ------------------------------------------------------------------------------------

  paintBars() {
    const host = this.find(".fb-bars"), { transports, end_us } = this.data, width = host.clientWidth || 1000;
    this.rowHigh = Math.max(BAR.least, Math.min(BAR.most, BAR.all / transports.length)); // few bars are higher: their lines say more
    const bottom = BAR.head + transports.length * this.rowHigh, left = width < 640 ? BAR.narrow : BAR.left, beside = BAR.share + 2 * BAR.apart + widthOf(sayTime(end_us), BAR.letters), right = width - beside; // of the slowest its time stands there
    this.barEnds = [left, beside];
    this.x = (time) => left + ((right - left) * time) / (end_us || 1);
    host.replaceChildren();
    host.setAttribute("viewBox", `0 0 ${width} ${bottom + BAR.foot}`);
    host.style.height = `${bottom + BAR.foot}px`;
    for (const time of ticks(end_us || 1, Math.floor((right - left) / BAR.tick))) {
      svgShape("path", { d: `M${this.x(time)} ${BAR.head}V${bottom}`, stroke: "var(--pl-faint)" }, host);
      this.text(this.x(time), bottom + 15, time ? sayTime(time) : "0", { "text-anchor": "middle", fill: "var(--pl-muted)" });
    }
    this.text(width, BAR.letters, "delivered", { "text-anchor": "end", fill: "var(--pl-muted)" });
    const defs = svgShape("defs", {}, host), clip = svgShape("clipPath", { id: "fb-played" }, defs);
    this.reached = svgShape("rect", { x: left, y: 0, height: bottom, width: 0 }, clip);
    this.bars = transports.map((transport, i) => this.bar(transport, i));
    this.cursor = svgShape("line", { stroke: "var(--pl-ink)", "stroke-width": 1.5, y1: BAR.head, y2: bottom }, host);
    transports.forEach(({ finish_us }, i) => this.text(this.x(finish_us) + BAR.apart, this.base(i), sayTime(finish_us), { class: "fb-took" })); // above the moment's line
  }

  // Where the words beside a bar stand.
  base(i) {
    return BAR.head + (i + 0.5) * this.rowHigh + 4;
  }

  // The roads that are drawn: of transports that are alike one stands for all.
  get drawn() {
    return this.apart ? this.shown : this.shown.slice(0, 1);
  }

  // One row: the whole run in pale, what was played in full colour, at its end what its headers cost, and how its bytes arrive.
  bar({ title, finish_us, header_us }, i) {
    const host = this.find(".fb-bars"), high = this.rowHigh - BAR.gap, top = BAR.head + i * this.rowHigh + BAR.gap / 2, row = svgShape("g", { class: "np-row" }, host);
    // Headers lie at the end though they are sent all along: their length is what they cost together.
    const box = (from, until, fill, part) => svgShape("rect", { x: this.x(from), y: top, width: Math.max(0, this.x(until) - this.x(from)), height: high, fill }, part);
    const d = `M${this.line(i).map(([x, share]) => `${x.toFixed(1)} ${(top + high - 2 - share * (high - 4)).toFixed(1)}`).join("L")}`;
    for (const played of [false, true]) {
      const part = svgShape("g", played ? { "clip-path": "url(#fb-played)" } : { opacity: REST }, row);
      box(0, finish_us, "var(--pl-gather)", part);
      svgShape("path", { d: `${d}V${top + high}H${this.x(0)}z`, fill: "var(--fb-filled)" }, part);
      svgShape("path", { d, fill: "none", stroke: "var(--pl-ink)", "stroke-width": 1.5 }, part);
    }
    box(finish_us - header_us, finish_us, "var(--pl-muted)", row).classList.add("fb-header");
    row.addEventListener("click", () => this.toggle(i));
    this.text(this.x(0) - 8, this.base(i), title, { "text-anchor": "end", "font-weight": this.shown.includes(i) ? 650 : 400 });
    return { share: this.text(host.clientWidth, this.base(i), "", { "text-anchor": "end" }) };
  }

  // What one has delivered, from its begin to its end: places on the axis, and shares.
  line(i) {
    const { finish_us } = this.data.transports[i];
    return Array.from({ length: POINTS + 1 }, (_, k) => [this.x((k / POINTS) * finish_us), this.share(i, (k / POINTS) * finish_us)]);
  }

  share(i, time) {
    return this.isThrough(i, time) ? 1 : this.delivered[i].at(time);
  }

  isThrough(i, time) {
    return time >= this.data.transports[i].finish_us - ROUNDING_US;
  }

  // When the slowest is furthest behind while the fastest is still under way: there one sees who is ahead. Where nobody is, the middle.
  furthestApart() {
    const { finish_us } = this.data.transports[0], last = this.data.transports.length - 1;
    if (!this.apart) return finish_us / 2;
    let apart = LEVEL, found = finish_us / 2;
    for (let k = 1; k < POINTS; k++) {
      const time = (k / POINTS) * finish_us, behind = this.share(0, time) - this.share(last, time);
      if (behind > apart) [apart, found] = [behind, time];
    }
    return found;
  }

  text(x, y, words, more) {
    return svgText(words, { x, y, "font-size": BAR.letters, ...more }, this.find(".fb-bars"));
  }

  // ---- where the slices of some are -------------------------------------------------------------------------------

  paintRoads() {
    this.find(".fb-roads").replaceChildren(...this.drawn.map((i) => this.road(i).section));
    const titles = this.shown.map((i) => this.data.transports[i].title), whole = titles.length > 1 ? `${titles.slice(0, -1).join(", ")} and ${titles.at(-1)}` : titles[0];
    const drawn = this.drawn.map((i) => {
      const { road, section } = this.roads.get(i);
      section.querySelector("h2").textContent = this.apart ? this.data.transports[i].title : whole;
      const { clientWidth, clientHeight } = section.querySelector("svg"), [least, largest] = this.apart ? [ROAD.high, ROAD.largest] : [ROAD.lone, ROAD.most];
      road.other = clientWidth > ROAD.wide && !this.apart && otherHill(this.data.transports[i].road);
      const zoom = clientWidth > ROAD.wide ? Math.max(1, Math.min(largest, clientHeight / least)) : 1, own = road.sides(zoom, 12 * zoom), sides = this.apart ? own.map((side, end) => Math.max(side, this.barEnds[end] - PAD)) : own; // below the bars
      return { road, zoom, sides, wire: road.wirePlace(zoom, 12 * zoom, sides) };
    });
    const wire = Math.max(...drawn.map(({ wire }) => wire)); // words stand on one side of all of them
    for (const { road, zoom, sides } of drawn) road.paint(zoom, 12 * zoom, sides, wire);
  }

  road(i) {
    if (this.roads.has(i)) return this.roads.get(i);
    const transport = this.data.transports[i], section = make("section", "fb-road");
    section.innerHTML = LANE;
    section.classList.toggle("fb-hilly", transport.road.stops.some(({ level }) => level));
    section.querySelector("svg").setAttribute("aria-label", roadWords(transport));
    const made = { section, road: new RaceRoad(section.querySelector("svg"), { ...transport.road }), done: section.querySelector("b"), gap: section.querySelector(".fb-gap") };
    this.roads.set(i, made);
    return made;
  }

  // How one stands to the fastest of those that are shown: in bytes of which as large a share was delivered.
  gap(i, time) {
    const { title, total, finish_us, waits, proxy, road } = this.data.transports[i], first = this.shown[0];
    if (this.isThrough(i, time)) return `through after ${sayTime(finish_us)}`;
    const behind = this.share(first, time) - this.share(i, time), other = this.data.transports[first].title;
    if (i === first || title === other) return !proxy && road.signs.some(({ hot }) => hot) ? "" : `waits for ${waits}`; // its road says it
    if (Math.abs(behind) < LEVEL) return `level with ${other}`;
    return `${sayBytes(Math.abs(behind) * total)} ${behind > 0 ? "behind" : "ahead of"} ${other}`;
  }

  // ---- the clock ----------------------------------------------------------------------------------------------------

  // Draws the moment `time`, microseconds; `flow` is microseconds per second of watching.
  draw(time, flow) {
    const { transports } = this.data, moving = this.film || (this.player?.playing ? flow : 0);
    if (this.apart) this.drawBars(time);
    for (const i of this.drawn) {
      const { road, done, gap } = this.roads.get(i), through = this.isThrough(i, time);
      showWords(done, `${Math.floor(100 * this.share(i, time))} %`);
      showWords(gap, this.gap(i, time));
      road.draw(Math.min(time, transports[i].finish_us), through ? 0 : moving, !this.calm || this.film > 0);
    }
  }

  drawBars(time) {
    const at = this.x(time);
    this.reached.setAttribute("width", Math.max(0, at - this.x(0)));
    for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, at);
    this.bars.forEach((bar, i) => showWords(bar.share, `${Math.floor(100 * this.share(i, time))} %`));
  }
}

function rowOf(title, figures) {
  const row = document.createElement("tr");
  row.append(Object.assign(make("th", "", title), { scope: "row" }), ...figures.map((figure) => make("td", "", figure)));
  return row;
}

// How far two figures of one unit are apart, with the decimals that they have.
function difference(figure, other) {
  const [[number, unit], [otherNumber, otherUnit]] = [figure, other].map((words) => words.replaceAll(",", "").split(" ")), apart = Math.abs(number - otherNumber);
  return unit && unit === otherUnit ? `${apart.toFixed(Math.max(...[number, otherNumber].map((figures) => figures.split(".")[1]?.length ?? 0)))} ${unit}` : "-";
}

function headOf(names) {
  const head = document.createElement("tr");
  head.append(...["transport", ...names].map((name) => Object.assign(make("th", "", name), { scope: "col" })));
  return head;
}

beginPlayed("fb", FabricsPage);

// A race: two data paths one above the other on one clock, the bytes that each has delivered, and by how much one leads.
import { Delivered } from "./delivered.js";
import { make, showWords } from "./dom.js";
import { unpacked } from "./packed.js";
import { fitFrame } from "./frame.js";
import { beginPlayed, PlayedPage } from "./played.js";
import { RaceChart } from "./race_chart.js";
import { RaceRoad, roadWords } from "./race_road.js";
import { digits, sayTime } from "./words.js";

/**
 * @typedef {object} RaceParcel What the page of a race gets
 * @property {string} about
 * @property {string} source
 * @property {string} proxy
 * @property {Racer[]} racers
 * @property {string[][]} key
 * @property {number} end_us
 * @property {string} counts
 * @property {boolean} same_way
 * @property {string} counted
 * @property {string} unit
 * @property {number} unit_bytes
 * @property {RaceAnswer} answer
 * @property {string} words
 */
/**
 * @typedef {object} Racer One of the two
 * @property {string} title
 * @property {string} when
 * @property {string} role
 * @property {number} total
 * @property {number} finish_us
 * @property {Column} times
 * @property {Column} shares
 * @property {string} waits
 * @property {boolean} proxy
 * @property {Road} road
 */
/**
 * @typedef {object} RaceAnswer What the race says in the end
 * @property {string} about
 * @property {string} value
 * @property {string} note
 * @property {string} rangeless
 * @property {string} otherwise
 * @property {number[] | null} band
 * @property {number} ratio
 * @property {string[][]} rows
 */
const CELLS = 56;
const NUMBER_APART = 0.16; // of the scale
const WATCHED_S = 10; // a race lasts this long at the usual speed
const LETTERS = { page: 12, slide: 18 }; // px of a drawing's words
const SHAPES = 1.2; // so much larger than on a page are a slide's roads
const FOOT = 42; // px of a slide that a deck has for its foot
const SLIDE = matchMedia("(min-width: 1180px) and (min-height: 640px)"); // in a smaller window a slide is a page
const SMALL = 740; // narrower than this, words keep their size and the page scrolls

const HTML = `
<header class="rc-head"><h1></h1><div class="rc-sub"><p class="rc-about"></p><p class="rc-key"></p></div></header>
<div class="rc-bar"><button type="button" class="rc-go" aria-pressed="false"></button><p class="rc-clock"><b></b></p><div class="pl-player" role="group" aria-label="Player"></div></div>
<div class="rc-lanes"></div>
<section class="rc-lead"><h2></h2><svg role="img"></svg></section>
<section class="rc-answer"><div class="rc-result"><h2></h2><p class="rc-ratio"></p><div class="rc-scale" aria-hidden="true"></div><p class="rc-note"></p></div><div class="rc-facts"><table></table></div></section>
<p class="rc-running"><span></span><b></b> <small></small></p>
<p class="rc-source"></p>`;
const LANE = `
<h2></h2><p class="rc-count"><b></b> <span></span></p><p class="rc-waits"></p>
<svg class="rc-road" role="img"></svg><div class="rc-cells" role="progressbar" aria-valuemin="0" aria-valuemax="100"></div><i class="rc-flag" aria-hidden="true"></i>`;

// A count that grows while one watches: without decimals from 10 on, so that it keeps its place.
function sayAmount(value) {
  return value >= 10 ? value.toFixed(0) : value ? digits(value) : "0";
}

// What is ahead at a moment, in words: [which of the two, how much], or nothing.
function lead(data, shares) {
  const [one, other] = data.same_way ? shares.map((share) => (share * data.racers[0].total) / data.unit_bytes) : shares.map((share) => 100 * share);
  const amount = Math.abs(other - one), said = data.same_way ? `${sayAmount(amount)} ${data.unit}` : `${Math.round(amount)} % of the way`;
  return amount < (data.same_way ? 0.05 : 0.5) ? null : [other > one ? 1 : 0, said];
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// Whether the ratio is one as it is written.
const even = ({ answer }) => answer.ratio.toFixed(2) === "1.00";

// The race as a sentence, which says what stands nowhere else: the lead is in the card, and so is the ratio where it has no range.
function sentence(data, through) {
  const [upper, lower] = data.racers;
  if (!through.some(Boolean)) return capital(`${upper.title} against ${lower.title}`);
  if (upper.finish_us === lower.finish_us) return "Both finished at once";
  if (even(data)) return "Both are equally fast";
  const { title } = upper.finish_us < lower.finish_us ? upper : lower;
  return capital(data.answer.note ? `${title} is ${data.answer.ratio.toFixed(2)}× as fast` : `${title} finished first`);
}

class RacePage extends PlayedPage {
  constructor(host, data, wanted, palettes) {
    super(host, data, wanted, palettes, HTML);
    this.film = 0; // microseconds a second, for a video whose frames are taken one by one
    this.delivered = data.racers.map((one) => new Delivered(one));
    this.byWork = wanted.mode === "slide" && data.key.length > 0; // as on the slides around it: slices have the colour of what is done with them
    this.lanes = data.racers.map((one) => this.lane(one));
    this.chart = new RaceChart(this.find(".rc-lead svg"), data, this.delivered);
    this.fill();
    this.play();
    this.fit();
    this.listen();
    this.keepInAddress();
  }

  lane(racer) {
    const lane = make("section", "rc-lane");
    lane.innerHTML = LANE;
    lane.style.setProperty("--rc", `var(--pl-${racer.role})`);
    lane.style.setProperty("--rc-ink", `var(--pl-${racer.role}-ink)`);
    lane.querySelector("h2").append(...(racer.when ? [make("small", "", racer.when), " "] : []), racer.title);
    const cells = lane.querySelector(".rc-cells");
    for (let i = 0; i < CELLS; i++) cells.append(make("i", ""));
    cells.setAttribute("aria-label", `${racer.title}: delivered`);
    this.find(".rc-lanes").append(lane);
    for (const [name, text] of Object.entries(racer.road.slices.arrays)) racer.road.slices.arrays[name] = unpacked(text);
    const road = new RaceRoad(lane.querySelector(".rc-road"), racer.road, { both: true, role: this.byWork ? null : racer.role });
    return { lane, road, cells: [...cells.children], bar: cells, count: lane.querySelector(".rc-count b"), unit: lane.querySelector(".rc-count span"), waits: !racer.proxy && racer.road.signs.some(({ hot }) => hot) ? "" : `waits for ${this.wanted.mode === "slide" ? racer.waits.split(",")[0] : racer.waits}` };
  }

  // What does not change while it plays.
  fill() {
    const { data } = this, { answer } = data, both = data.racers.map(({ title }) => title).join(" against ");
    this.find(".rc-about").textContent = data.about;
    this.find(".rc-key").append(...(this.byWork ? data.key : []).map(([role, words]) => Object.assign(make("span", "", words), { style: `--tone:var(--pl-${role})` })));
    if (this.wanted.mode !== "slide" && !this.wanted.controls) this.find(".rc-lanes").prepend(this.find(".rc-about")); // controls around it say what is exchanged, and where
    this.find(".rc-lead h2").textContent = `Delivered per ${data.counted}, ${data.same_way ? data.unit : "% of all"}`;
    this.find(".rc-result h2").textContent = answer.about;
    this.find(".rc-lead h2").title = data.counts;
    this.find(".rc-ratio").style.setProperty("--letters", answer.value.length);
    this.find(".rc-ratio").append(answer.value, make("small", "", "as fast"));
    if (answer.rangeless && this.wanted.mode !== "slide") this.find(".rc-note").append(answer.rangeless);
    if (answer.otherwise) this.find(".rc-note").append(answer.otherwise);
    this.find(".rc-source").textContent = this.wanted.mode === "slide" || !data.proxy ? data.source : `${data.source} ${data.proxy}`;
    this.root.setAttribute("aria-label", `Race: ${both}`);
    for (const [i, racer] of data.racers.entries()) {
      const { lane, unit } = this.lanes[i];
      unit.textContent = data.same_way ? data.unit : `of ${sayAmount(this.amount(1, i))} ${data.unit}`; // what both deliver is the chart's upper line
      lane.querySelector(".rc-road").setAttribute("aria-label", roadWords(racer));
    }
    this.find(".rc-lead svg").setAttribute("aria-label", data.words);
    this.fillFacts();
    this.fillScale();
  }

  // In what the two differ, whatever the moment.
  fillFacts() {
    const { racers, answer } = this.data, cell = (tag, scope, words, color = "") => Object.assign(make(tag, "", words), scope && { scope }, color && { style: `color:${color}` });
    const line = (...cells) => { const row = make("tr", ""); row.append(...cells); return row; };
    this.find(".rc-facts table").append(line(make("td", ""), ...racers.map(({ title, role }) => cell("th", "col", title, `var(--pl-${role}-ink)`))), ...answer.rows.map(([what, ...values]) => line(cell("th", "row", what), ...values.map((value) => cell("td", "", value)))));
    this.root.style.setProperty("--lines", 1 + answer.rows.length);
  }

  // From where to where the ratio lies, between once as fast, or half of it where it may be less, and the next whole number; what would be if another assumption held, words say. These are written below it, and the ratio of what is played above its mark.
  fillScale() {
    const { band, ratio } = this.data.answer, scale = this.find(".rc-scale"), end = Math.max(2, Math.ceil(Math.max(ratio, band?.[1] ?? 0))), begin = Math.floor(2 * Math.min(1, ratio, band?.[0] ?? 1)) / 2;
    const part = (value) => `${(100 * (value - begin)) / (end - begin)}%`, slower = ([low, high]) => (100 * Math.max(0, Math.min(high, 1) - low)) / (high - low || 1);
    if (band) scale.append(Object.assign(make("i", "rc-band"), { style: `left:${part(band[0])};width:calc(${part(band[1])} - ${part(band[0])});--slower:${slower(band)}%` }));
    const once = (1 - begin) / (end - begin); // a number nearer to an end than words have room would lie on that of the end
    for (const value of new Set([...(once && once < NUMBER_APART ? [] : [begin]), 1, end])) {
      const number = scale.appendChild(make("span", value === 1 ? "rc-once" : "", `${value}×`)), at = (value - begin) / (end - begin);
      Object.assign(number.style, { left: part(value), transform: `translateX(${at === 0 || at === 1 ? -100 * at : -50}%)` });
      if (at === 0) number.style.setProperty("--tick", "0");
    }
    scale.append(Object.assign(make("i", "rc-here"), { style: `left:${part(ratio)}` }));
    const words = this.data.answer.note && (this.wanted.mode === "slide" ? `this race ${this.data.answer.note.split(" ")[0]}` : this.data.answer.note);
    if (words) scale.append(Object.assign(make("span", "rc-name", words), { style: `left:${part(ratio)};transform:translateX(-${part(ratio)})` }));
  }

  // A share of what one delivers, in the unit of the page.
  amount(share, i) {
    return (share * this.data.racers[i].total) / this.data.unit_bytes;
  }

  play() {
    const { data } = this, moments = [...new Set(this.delivered.flatMap(({ times }) => [...times]))].concat(data.racers.map(({ finish_us }) => finish_us)).sort((a, b) => a - b);
    this.player.loop = false; // it ends at the finish
    this.load(data.end_us, data.end_us / WATCHED_S, "race", moments);
    if (this.wanted.mode !== "slide") return;
    this.player.seek(Math.min(...data.racers.map(({ finish_us }) => finish_us))); // a slide shows what it comes to before somebody plays it
    this.fresh = true;
    this.show();
  }

  go() {
    if (this.fresh) this.player.seek(0);
    this.fresh = false;
    this.player.toggle();
    this.show();
  }

  // The time in the unit of the whole race, with as many digits all the while.
  clock(time) {
    const [size, unit] = [[1e6, "s"], [1e3, "ms"], [1, "µs"]].find(([size]) => this.data.end_us >= size) ?? [1e-3, "ns"];
    return `${(time / size).toFixed(2)} ${unit}`;
  }

  // What is said until one is through: the question, then who leads and by how much.
  tell(time, ahead) {
    const { data } = this, leader = ahead && data.racers[ahead[0]], all = data.same_way ? `its ${sayAmount(this.amount(1, 0))} ${data.unit}` : "all its bytes";
    this.find(".rc-running").style.setProperty("--leads", leader ? `var(--pl-${leader.role}-ink)` : "var(--pl-muted)");
    showWords(this.find(".rc-running span"), leader?.title ?? (time ? "Both level" : `Which delivers ${all} first?`));
    showWords(this.find(".rc-running b"), ahead?.[1].replace(" of the way", "") ?? "");
    showWords(this.find(".rc-running small"), ahead ? "ahead" : "");
  }

  show() {
    const { wanted: playing, time, length } = this.player, go = this.find(".rc-go");
    showWords(go, playing ? "Pause" : this.fresh || !time ? "Start" : time < length ? "Go on" : "Again"); // the lab's own button is called Race
    if (go.dataset.playing === String(playing)) return;
    go.dataset.playing = playing;
    go.setAttribute("aria-pressed", String(playing));
  }

  listen() {
    this.find(".rc-go").addEventListener("click", () => this.go());
    this.listenToKeys({}, ({ target, key }) => target.matches("input[type=range]") && /^(Arrow|Home)/.test(key), () => this.go());
    const sized = new ResizeObserver(() => this.fit());
    for (const part of [document.documentElement, ...this.lanes.map(({ road }) => road.host), this.chart.host]) sized.observe(part);
  }

  // Words grow with the page, so that a slide reads alike on a small screen and a large one.
  fit() {
    const framed = document.documentElement.hasAttribute("data-framed"), slide = this.wanted.mode === "slide" && SLIDE.matches, [width, height] = slide ? [1280, framed ? 720 - FOOT : 720] : [1120, 640], wide = innerWidth >= SMALL;
    this.zoom = wide ? Math.max(slide ? 0.8 : 1, Math.min(innerWidth / width, innerHeight / height, 3)) : 1;
    document.documentElement.style.setProperty("--z", this.zoom.toFixed(3));
    const letters = LETTERS[slide ? "slide" : "page"] * this.zoom;
    const shapes = this.zoom * (slide ? SHAPES : 1), sides = this.lanes.map(({ road }) => road.sides(shapes, letters)), [left, right] = [0, 1].map((k) => Math.max(...sides.map((side) => side[k])));
    const wire = Math.max(...this.lanes.map(({ road }) => road.wirePlace(shapes, letters, [left, right]))); // words of both wires stand alike
    for (const { road, lane } of this.lanes) {
      road.paint(shapes, letters, [left, right], wire);
      lane.style.setProperty("--left", `${left}px`); // the row of what is delivered begins and ends with the path
      lane.style.setProperty("--right", `${right}px`);
    }
    this.chart.paint(letters / LETTERS.page);
    this.player.draw();
    if (this.wanted.mode === "frame") fitFrame(this.root, wide);
  }

  // Draws the moment `time`, microseconds; `flow` is microseconds per second of watching.
  draw(time, flow) {
    if (!this.chart) return;
    const { data } = this, through = data.racers.map(({ finish_us }) => time >= finish_us - 1e-6);
    const shares = this.delivered.map((one, i) => (through[i] ? 1 : one.at(time))), moving = this.film || (this.player?.playing ? flow : 0);
    this.root.classList.toggle("rc-before", time === 0 && !moving); // nothing is busy before the start
    this.root.classList.toggle("rc-racing", !through.some(Boolean)); // the answer comes when the first is through
    for (const [i, { lane, road, cells, bar, count, waits }] of this.lanes.entries()) {
      const racer = data.racers[i];
      showWords(count, sayAmount(this.amount(shares[i], i)));
      showWords(lane.querySelector(".rc-waits"), through[i] ? `finished at ${sayTime(racer.finish_us)}` : waits);
      lane.classList.toggle("rc-through", through[i]);
      const filled = shares[i] * CELLS;
      for (let k = 0; k < CELLS; k++) {
        const part = Math.max(0, Math.min(1, filled - k)).toFixed(2);
        if (cells[k].dataset.part !== part) cells[k].style.setProperty("--part", (cells[k].dataset.part = part));
      }
      bar.setAttribute("aria-valuenow", Math.round(100 * shares[i]));
      road.draw(Math.min(time, racer.finish_us), through[i] ? 0 : moving, !this.calm || this.film > 0);
    }
    const ahead = lead(data, shares);
    const amount = ahead?.[1].replace(" of the way", "");
    this.tell(time, ahead);
    this.chart.draw(time, shares, ahead && { who: ahead[0], texts: through.some(Boolean) ? [`${amount} ahead`, amount] : [] }); // until then the card says it
    showWords(this.find("h1"), sentence(data, through));
    const clock = this.clock(time), atLane = !moving && data.racers.some(({ finish_us }, i) => through[i] && this.clock(finish_us) === clock); // a lane says this moment
    showWords(this.find(".rc-clock b"), !atLane ? clock : through.every(Boolean) ? "Both finished" : "First finished");
    this.root.classList.toggle("rc-told", atLane);
    this.show();
  }
}

beginPlayed("rc", RacePage);

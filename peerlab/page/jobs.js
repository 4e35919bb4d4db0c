// Several jobs on one fabric: hosts in the colours of their jobs, and uplinks divided among them.
import { barOf, measure } from "./bars.js";
import { make } from "./dom.js";
import { JobsScene, tintOf } from "./jobs_scene.js";
import { ticks } from "./labels.js";
import { widthOf } from "./places.js";
import { beginPlayed, forControl, PlayedPage, writeWhole } from "./played.js";
import { svgShape, svgText } from "./svg.js";
import { sayTime, sayTimes } from "./words.js";

/**
 * @typedef {object} JobsParcel What the page of several jobs gets
 * @property {string} about
 * @property {string} source
 * @property {string} finding
 * @property {string} note
 * @property {string} words
 * @property {string[]} columns
 * @property {number} leaf
 * @property {number} end_us
 * @property {number} victim
 * @property {JobParcel[]} jobs
 * @property {JobsParcelLink[]} links
 */
/**
 * @typedef {object} JobParcel One job
 * @property {string} title
 * @property {string} role
 * @property {number[]} hosts
 * @property {number} slower
 * @property {string} alone
 * @property {string[]} figures
 * @property {number[][]} exchanges
 * @property {number[][]} transfers
 * @property {number[][]} held
 */
/**
 * @typedef {object} JobsParcelLink An uplink, and what each job had of it
 * @property {string} name
 * @property {number} leaf
 * @property {boolean} out
 * @property {number[][]} uses
 */
const JOBS_WATCHED_S = 16; // all of it lasts so long at the usual speed
const MOST_GROWN = 2.6; // so many times as high the pictures are at most
const EACH = "each uplink"; // where all are used alike
const TRIES = 4; // to find that
const FULL = ["full and shared", "full"]; // what is marked above the use of an uplink
// In px: a lane of a job with its bar; a lane of an uplink. Of the uplinks so many are drawn, those that are shared longest, and of those that are shared alike one.
const LANES = { left: 144, narrow: 84, label: 52, letters: [12, 13, 14], roomy: 1100, head: 20, job: 22, apart: 34, bar: 14, thickest: 24, link: 48, highest: 120, alone: 160, full: 4, sign: 18, between: 6, centre: 8.5, zero: 60, wide: 440, seen: 52, most: 2, tick: 64 };

const JOBS_HTML = `
<h1></h1>
<div class="ts-bar"><div class="pl-player" role="group" aria-label="Player"></div></div>
<div class="np-head"><section class="ts-card np-hero"><h2></h2><p class="ts-value"><b></b><small></small></p><p class="ts-note"></p></section>
<div class="np-scroll"><table class="np-fabrics jb-jobs"><caption>Each job's collectives</caption><thead></thead><tbody></tbody></table></div></div>
<p class="np-key"></p>
<svg class="np-scene" role="img"></svg>
<svg class="np-strip" role="img" aria-label="When each job exchanges, and what each had of the uplinks"></svg>
<footer class="np-foot"><p class="ts-source"></p></footer>`;

class JobsPage extends PlayedPage {
  constructor(host, data, wanted, palettes) {
    super(host, data, wanted, palettes, JOBS_HTML);
    this.fill();
    this.scene = new JobsScene(this.find(".np-scene"), data);
    this.paint();
    const moments = [...new Set(data.jobs.flatMap(({ exchanges, held }) => [...exchanges, ...held].flatMap(([from, until]) => [from, until])))].sort((a, b) => a - b);
    this.load(data.end_us, data.end_us / JOBS_WATCHED_S, `${data.end_us}`, moments);
    this.player.seek(data.end_us * 0.1); // both are on the link by then
    this.listenToKeys({}, forControl);
    this.paintWhenSized([".np-scene"], () => this.paint());
    this.keepInAddress();
  }

  // What does not change while it plays.
  fill() {
    const { about, source, finding, note, words, jobs, victim } = this.data, shown = victim < 0 ? 0 : victim, hero = this.find(".np-hero");
    const slide = this.wanted.mode === "slide";
    this.find("h1").textContent = slide ? finding : about;
    writeWhole(this.find(".ts-source"), source);
    const ended = jobs.every(({ slower }) => slower);
    hero.querySelector("h2").textContent = victim < 0 ? "Every job's collectives take" : `The collectives of ${jobs[shown].title} take`;
    hero.querySelector("b").textContent = ended ? sayTimes(jobs[shown].slower) : "?";
    hero.querySelector("small").textContent = " as long as alone";
    hero.querySelector(".ts-note").textContent = slide ? `${about}.` : note;
    const computes = jobs.some(({ exchanges }) => exchanges.length > 1);
    const acts = [["jb-sends", "sends"], ...(computes ? [["jb-computes", "computes"]] : []), ["jb-waits", "waits"]];
    this.key = new Map(acts.map(([name, words]) => [name, actOf(name, words)]));
    const names = this.areAlike() ? jobs.map(({ title, role }) => namedJob("span", title, role)) : []; // else the table is their key
    const told = make("span", "jb-acts", "hosts:"); // where they do not fit beside the jobs all of them have a row of their own: none is ever blank
    told.append(...this.key.values());
    this.find(".np-key").append(...names, told);
    this.fillTable();
    this.find(".np-scene").setAttribute("aria-label", words);
  }

  // Jobs that all pay alike have the same times: one table has those of all.
  areAlike() {
    const { jobs, victim } = this.data;
    return victim < 0 && jobs.length > 1 && new Set(jobs.map(({ figures }) => figures.slice(1, -1).join())).size === 1; // without hosts, which the picture shows, and the slow-down, which the headline says
  }

  // A row for each job.
  fillTable() {
    const { columns, jobs } = this.data;
    if (this.areAlike()) return this.fillTimes();
    this.find("thead").append(rowOf(...["job", ...columns].map((name) => Object.assign(make("th", "", name), { scope: "col" }))));
    this.find("tbody").append(...jobs.map(({ title, role, figures }) => rowOf(Object.assign(namedJob("th", title, role), { scope: "row" }), ...figures.map((figure) => make("td", "", figure)))));
  }

  // A row for each time, with a bar.
  fillTimes() {
    const { columns, jobs: [{ figures, exchanges, slower }] } = this.data, spans = exchanges.map(([from, until]) => until - from), together = Math.max(...spans);
    const times = { alone: ["alone", together / (slower || 1)], "beside the others": ["together", together], "begins every": ["one begins every", exchanges.length > 1 ? exchanges[1][0] - exchanges[0][0] : 0] }, most = Math.max(...Object.values(times).map(([, time]) => time));
    this.find(".np-scroll").classList.add("jb-times");
    this.find("tbody").append(...Object.entries(times).filter(([name]) => columns.includes(name)).map(([name, [words, time]]) => {
      const cell = make("td", ""), row = rowOf(Object.assign(make("th", "", words), { scope: "row" }), cell);
      cell.append(measure(barOf(time / most), figures[columns.indexOf(name)]));
      row.classList.toggle("np-chosen", words === "together"); // what the card is about
      return row;
    }));
  }

  paint() {
    this.paintParts(1);
    if (this.wanted.mode !== "frame") for (let grown = 1, tries = 0; tries < TRIES; tries++) this.paintParts((grown = this.growth(grown)));
    this.fillSlide();
  }

  // Draws both pictures, so many times as high as they are at least.
  paintParts(grown) {
    this.scene.paint(grown);
    this.paintLanes(grown);
  }

  // How much higher the pictures may be than at first, so that a page or a slide fills its window; not all of them grows, so what they are now is but near.
  growth(now) {
    const { root } = this, zoom = Number(getComputedStyle(root).zoom) || 1, high = this.wanted.mode === "slide" ? this.slideHeight() : innerHeight / zoom, drawn = [".np-scene", ".np-strip"].reduce((sum, part) => sum + this.find(part).viewBox.baseVal.height, 0);
    root.style.minHeight = 0;
    const rest = root.getBoundingClientRect().height / zoom - drawn;
    root.style.minHeight = "";
    return Math.max(1, Math.min(MOST_GROWN, (now * (high - rest)) / drawn));
  }

  // All jobs on one axis: when each exchanges; then the uplinks, where one sees who has what of them.
  paintLanes(grown) {
    const host = this.find(".np-strip"), { jobs, end_us } = this.data, width = host.clientWidth || 1000, right = width;
    const links = this.sharedLinks(), alone = width >= LANES.wide && this.areTold(links, (right - LANES.label) / end_us), letters = LANES.letters[width < 600 ? 0 : width < LANES.roomy ? 1 : 2], left = alone ? LANES.label : width < 600 ? LANES.narrow : LANES.left;
    this.x = (time) => left + ((right - left) * time) / end_us;
    host.replaceChildren();
    const text = (x, y, words, more) => svgText(words, { x, y: y + 13, "font-size": letters, fill: "var(--pl-muted)", ...more }, host);
    const box = (from, until, y, height, role, more = {}, least = 0.4) => svgShape("rect", { x: this.x(from).toFixed(2), y, width: Math.max(least, this.x(until) - this.x(from)).toFixed(4), height, fill: `var(--pl-${role})`, ...more }, host);
    const ground = (y, height) => { // as light as paper: pale jobs are seen on it
      box(0, end_us, y, height, "paper", { class: "jb-ground" });
      svgShape("path", { d: `M${left} ${y}H${right}M${left} ${y + height}H${right}`, stroke: "var(--pl-faint)", "shape-rendering": "crispEdges" }, host);
    };
    const high = Math.min(LANES.bar * grown, LANES.thickest), middle = (high - letters) / 2 - 1;
    const about = alone ? `use of each uplink, by job: all ${this.data.links.length} are alike` : width < 600 ? "collectives, and use of uplinks" : "each job's collectives, and below what each has of the uplinks", wide = (words) => widthOf(words, letters, false);
    text(0, 0, about);
    let top = alone ? LANES.head - 2 : LANES.head;
    if (!alone) jobs.forEach(({ title, exchanges, role }) => {
      text(left - 8, top + middle, title, { "text-anchor": "end", fill: "var(--pl-ink)" });
      ground(top, high);
      for (const [from, until] of exchanges) box(from, until, top, high, role, { rx: 2, fill: tintOf(role) });
      top += Math.min(LANES.job * grown, LANES.apart);
    });
    const isFull = (shares) => shares.filter((share) => share > 0).length > 1 && shares.reduce((sum, share) => sum + share, 0) > 0.999; // of several jobs
    if (links.some(({ uses }) => uses.some(([, , ...shares]) => isFull(shares)))) {
      const full = FULL.find((words) => wide(about) + 18 + LANES.sign + wide(words) < right) ?? FULL.at(-1);
      text(right, 0, full, { "text-anchor": "end" });
      svgShape("rect", { x: right - wide(full) - 6 - LANES.sign, y: 7, width: LANES.sign, height: LANES.full, fill: "var(--pl-hot)" }, host);
    }
    links.forEach(({ name, uses }, i) => {
      const room = Math.min((LANES.link + (alone ? LANES.job * jobs.length : 0)) * grown - 12, alone ? LANES.alone : LANES.highest), base = top + 8 + room;
      if (!alone) text(left - 8, Math.max(base - room / 2 - 7, base - room + 10), width < 600 ? name : name === EACH ? `use of ${name}` : `uplink ${name}`, { "text-anchor": "end" });
      ground(base - room, room);
      text(left - 8, base - room - LANES.centre, "100 %", { "text-anchor": "end" });
      if (room > LANES.zero) text(left - 8, base - LANES.centre, "0 %", { "text-anchor": "end" });
      for (const [from, until, ...shares] of uses) {
        let height = 0;
        if (isFull(shares)) box(from, until, base - room - LANES.full, LANES.full, "hot", { "shape-rendering": "crispEdges" });
        shares.forEach((share, job) => {
          if (!share) return;
          height += share;
          const y = base - room * height;
          box(from, until, y.toFixed(1), (room * share).toFixed(1), jobs[job].role, { "shape-rendering": "crispEdges", fill: tintOf(jobs[job].role) }); // no ground shines through between two
        });
      }
      top += room + 12 + (i < links.length - 1 ? LANES.between : 0);
    });
    for (const time of ticks(end_us, Math.floor((right - left) / LANES.tick))) {
      svgShape("path", { d: `M${this.x(time).toFixed(1)} ${top - 4}v4`, stroke: "var(--pl-edge)" }, host);
      const words = time ? sayTime(time) : "0";
      text(Math.min(this.x(time), right - wide(words) / 2), top - 2, words, { "text-anchor": "middle" });
    }
    host.setAttribute("viewBox", `0 0 ${width} ${top + 16}`);
    host.style.height = `${top + 16}px`;
    this.cursor = svgShape("line", { stroke: "var(--pl-ink)", "stroke-width": 1.5, y1: LANES.head - 4, y2: top - 4 }, host);
  }

  // Whether the use of one uplink tells when each job exchanges, wide enough to be seen at so many pixels per microsecond: then no lanes say it again.
  areTold(links, pixels) {
    if (links.length !== 1) return false;
    const near = this.data.end_us / 1000, isSeen = (job) => links[0].uses.some(([from, until, ...shares]) => shares[job] && (until - from) * pixels >= LANES.seen);
    if (!this.data.jobs.every((_, job) => isSeen(job))) return false;
    return this.data.jobs.every(({ exchanges }, job) => {
      const spans = [];
      for (const [from, until, ...shares] of links[0].uses) {
        if (!shares[job]) continue;
        if (spans.length && from - spans.at(-1)[1] < near) spans.at(-1)[1] = until;
        else spans.push([from, until]);
      }
      return spans.length === exchanges.length && spans.every((span, i) => span.every((moment, end) => Math.abs(moment - exchanges[i][end]) < near));
    });
  }

  // The uplinks that are shared longest; of those that are used alike the first, which says so.
  sharedLinks() {
    const both = ({ uses }) => uses.reduce((sum, [from, until, ...shares]) => sum + (shares.filter((share) => share > 0).length > 1 ? until - from : 0), 0);
    const kinds = new Map(), sorted = [...this.data.links].sort((a, b) => Number(b.out) - Number(a.out)).sort((a, b) => both(b) - both(a));
    for (const link of sorted) {
      const key = JSON.stringify(link.uses);
      kinds.set(key, [...(kinds.get(key) ?? []), link]);
    }
    return [...kinds.values()].slice(0, LANES.most).map(([first, ...alike]) => ({ ...first, name: alike.length === this.data.links.length - 1 ? EACH : first.name }));
  }

  draw(time) {
    this.cursor?.setAttribute("x1", this.x(time));
    this.cursor?.setAttribute("x2", this.x(time));
    const drawn = this.scene.draw(time);
    for (const [name, { style }] of this.key) {
      const there = drawn.has(name);
      Object.assign(style, { visibility: there ? "visible" : "hidden", order: there ? 0 : 1 }); // its room stays, at the end
    }
  }
}

function rowOf(...cells) {
  const row = document.createElement("tr");
  row.append(...cells);
  return row;
}

// What hosts do, behind one that does it.
function actOf(name, words) {
  const pair = make("span", `np-pair ${name}`, words);
  pair.prepend(make("i", "jb-sample"));
  return pair;
}

// The name of a job behind a sign in its colours: that of its areas, with an edge.
function namedJob(kind, title, role) {
  const name = make(kind, kind === "span" ? "np-pair" : "");
  name.append(Object.assign(make("i", "jb-job"), { style: `background: ${tintOf(role)}; border-color: var(--pl-${role})` }), title);
  return name;
}

beginPlayed("jb", JobsPage);

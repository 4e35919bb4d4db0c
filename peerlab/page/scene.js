// The data path at a moment: where every slice is, which memory is registered, which step the ring is in.
import { mixed } from "./colours.js";
import { Lateness } from "./late.js";
import { NARROW_UNITS, narrowBoxes, narrowLine, narrowPoint, narrowStep, narrowWords, widePoint } from "./narrow_scene.js";
import { meet, widthOf } from "./places.js";
import { RegistrationTable } from "./registration_table.js";
import { Rows } from "./rows.js";
import { ScheduleSteps } from "./schedule_steps.js";
import { View } from "./view.js";
import { PartTip } from "./tip.js";
import { besideSwitch, occupied, PASSED, phaseOfWait } from "./trains.js";
import { HAIR, Way } from "./way.js";
import { sayTime, sayWaiting } from "./words.js";

export const SCENE_WIDTH = 1060;
export const SCENE_HEIGHT = 228;
const WIDE_UNITS = { width: SCENE_WIDTH, height: SCENE_HEIGHT };
const HIDDEN = 50; // px: a page of less is not shown
const ONE_LINE = 480; // px: from this width on what is slow stands in one line beside a narrow picture's boxes
const NARROW = 620; // px: below it the second node stands below the first
const NARROW_HEIGHT = { least: 330, most: 460, share: 1 }; // px, and of the width
const [FREED, LANDED, THROUGH] = ["freed", "landed", "through"].map((name) => PASSED.indexOf(name));
const LEAST_WORD = { page: 12, slide: 11 }; // px: smaller ones cannot be read; a slide is shown larger than it is drawn
const ENLARGED = 1.3; // of the scale of boxes: from here on words have less room than in the lab
const LARGEST = 1.5; // of the words of the lab, in a window that has room for more
const BESIDE_NAME = 16; // units: slices that a CPU copies have so much room beside its name
const NARROW_LINE = 15.8; // units: what is nearer to the name above it is not written in a narrow picture
const NEXT_LINE = 18; // units: less is the way from a name to the line below it
const LINE = 13; // px: lines that are nearer to each other touch
const LINE_OF_LETTERS = 1.25; // of the lower line's letters: the same, where these are large
const LOWER = 0.08; // of letters: capitals reach higher above a line's middle than letters below it
const LETTERS_IN_BOX = 1.3; // of them: what the halves of both lines need above and below their middles
const AIR = 2; // px: at least so much is between letters and a box above or below them
const INK = { above: 0.4, below: 0.6 }; // of letters: so far they reach from a line's middle, those that go below the line, too
const BAR = 8; // length of a slice that waits: touching no box, as a link does
const ARROW_ROOM = { units: 12, px: 14 }; // for the arrow beside the uplink, from where slices wait: the larger of both
const BOX_EDGE = 14; // units: so far from the edge of the picture boxes begin, and words end
const MORE = "\u22ee"; // in the place of the last two of a queue that is longer than its places
const NIC_RATE = / Gb\/s$/;
const READ_ANYWHERE = / busy$|latency|^PCIe switch$/; // words that are no names and are written even where only names are, if they fit
const BROAD = 9; // of a slice on the wire
const PALE = 0.62;
const ON_SWITCH = 10; // units: slices cross a switch so far beside its middle, at most
const BESIDE_CORNER = 6; // units: as far beyond a corner no dot of a way is seen, nor between the slices of two devices in a lane
const COVER = 8; // of what hides the dots of a way in a switch where a slice is
const THIN = 0.5; // a slice of other nodes has half the breadth: one line, as an outline looks like two more ways
const THINNEST = 2.5; // px: a narrower slice is a hairline
const BESIDE_EDGES = 8; // px: from words to both sides of their box
const RIM = 1.5; // px: the dark edge of a slice on the wire, whose ground is of its colour
const BESIDE_BOXES = 158; // units: what stands lower is beside the boxes of devices and NICs
const SUM = "sum";
const LEAST_LATE = 0.05;
const NODE_WIDTH = 408; // units: what is between the nodes ends so far from the right
const NO_RING = { xs: [], ys: [], line: [], width: [], alpha: [] };
const RING = { y: 132, radius: 15, dots: 24, words: 34, dot: 4 };
const HALF_LINE = 6; // units: half the height of letters above the wire
const SPARSE_RING = { ...RING, words: 46 }; // where words are larger than their place
const BESIDE_RING = 24; // units: at least so much room is between the nodes and words that stand in the middle
const SLIDE_RING = { x: SCENE_WIDTH / 2, y: 61, radius: 49, dots: 24, below: [124, 140] }; // between the nodes, where a slide has no table; its words below it
const BESIDE_HOST = 80; // units: so far words at the side of a node are clear of host memory
const NARROW_HOST = 98; // units: the same in a narrow picture
const PLAIN = 1.2; // px: the edge of a box that is used and is no bottleneck
const LOW = 220; // units: what stands higher is clear of what joins the nodes below their boxes
const READ = "read"; // the style of words that are no names and are written where else only names are
// The rows of columns that are kept.
const rowsOf = (columns, isKept) => Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values.filter((_, i) => isKept(i))]));

/**
 * @typedef {object} SceneParcel What the data path gets for a run; keys of stages are their numbers in the trace
 * @property {Object<string, *[]>} panels
 * @property {Object<string, *[]>} pipes
 * @property {Object<string, *[]>} loads
 * @property {Object<string, *[]>} boxes
 * @property {Object<string, *[]>} slots
 * @property {Object<string, *[]>} lines
 * @property {Object<string, *[]>} texts
 * @property {Object<string, [number, number][][][]>} ways
 * @property {Object<string, (number | null)[][][]>} stops
 * @property {Object<string, [number, number][][]>} waiting
 * @property {Object<string, [number, number][][][]>} queues
 * @property {number} breadth
 * @property {number} bus
 * @property {number} cell
 * @property {[number, number, number, number]} nic
 * @property {string} others
 * @property {Object<string, [number, number, string]>} badges
 * @property {[number, number, string, string][]} arrows
 * @property {Object<string, string>} roles
 * @property {Tip[]} tips
 * @property {Sight} sight
 * @property {Sums} sums
 * @property {Object<string, number[]>} names
 * @property {PageRows} moves
 * @property {StandingTable | LiveTable} table
 */
/**
 * @typedef {object} Sums A switch that adds up
 * @property {number} left
 * @property {number} right
 * @property {string} role
 */
/**
 * @typedef {object} Sight Whom the picture shows
 * @property {number} node
 * @property {number[]} partner
 * @property {number[]} source
 * @property {number[]} beyond
 * @property {Object<string, string>} slow
 * @property {string} unit
 */
export class Scene extends View {
  static place = ["beforebegin", ".pl-player"];
  static html = `<div class="pl-scene" role="img" aria-label="Data path"></div>`;
  static figure = ".pl-scene";

  constructor(page) {
    super(page);
    this.host = page.find(".pl-scene");
    this.scale = 1;
    this.least = LEAST_WORD.page;
    this.squeeze = 1; // how much wider than high a unit of the scene is on the page
    this.capacity = 0;
    this.table = new RegistrationTable(this.figures);
    this.units = WIDE_UNITS;
    this.tip = new PartTip(this);
    page.on("change:late", () => this.data && this.showLate());
  }

  apply(part, { meta }) {
    this.data = part;
    this.meta = meta;
    this.moves = new Rows(part.moves, {
      floats: ["enter", ...PASSED, "until"],
      ints: ["device", "step", "slice", "whose", "stage"],
      begin: "enter",
      end: "until",
    });
    const { moves } = this;
    this.steps = new ScheduleSteps(moves, (row) => moves.whose[row] & 1 || !meta.ring);
    this.table.apply(part.table);
    this.late = Lateness.of(this.page);
    this.ways = {};
    for (const [stage, devices] of Object.entries(this.data.ways))
      this.ways[stage] = devices.map((variants) => variants.map((points) => points.length && new Way(points)));
    this.paint();
  }

  // How late the nodes are is known after the picture.
  showLate() {
    this.late = Lateness.of(this.page);
    this.describe();
    this.page.player.draw();
  }

  // Says the picture in words.
  describe() {
    this.host.setAttribute("aria-label", [this.meta.words, this.late?.words].filter(Boolean).join(" "));
  }

  // Takes the shape that the page has room for: a narrow one has its nodes below each other. Returns whether it is shown at all.
  fold(mayBeNarrow = true) {
    const { clientWidth: across } = this.host, { least, most, share } = NARROW_HEIGHT;
    if (across <= HIDDEN) return false;
    this.narrow = mayBeNarrow && across < NARROW;
    this.least = mayBeNarrow ? LEAST_WORD.page : LEAST_WORD.slide;
    this.units = this.narrow ? NARROW_UNITS : WIDE_UNITS;
    const { root } = this.page, figure = this.figures.model("scene"), high = Math.round(Math.min(most, Math.max(least, share * across)));
    root.toggleAttribute("data-narrow", this.narrow);
    root.style.setProperty("--pl-narrow-scene", `${high}px`);
    const ratio = across / (this.narrow ? high : Math.max(SCENE_HEIGHT, (across * SCENE_HEIGHT) / SCENE_WIDTH)); // lines of words need their height
    if (figure.aspect_ratio !== null && figure.aspect_ratio !== ratio) figure.aspect_ratio = ratio; // a page of its own follows its style
    figure.x_range.setv({ start: 0, end: this.units.width });
    figure.y_range.setv({ start: this.units.height, end: 0 });
    return true;
  }

  // Draws what stands still, in the colours of the theme and at the size of the page.
  paint() {
    const { figures, data } = this, boxes = (columns) => (this.narrow ? narrowBoxes(columns) : this.marked(columns));
    const { clientWidth: width, clientHeight: height } = this.host;
    this.size = this.room();
    if (width > HIDDEN) this.scale = width / this.units.width; // not while it is hidden
    if (height > HIDDEN) this.squeeze = this.scale / (height / this.units.height);
    this.besideWords = this.middleRing;
    for (const name of ["panels", "pipes", "loads", "boxes"]) figures.fill(`scene_${name}`, this.opaque(boxes(data[name])), ["fill", "line"]);
    const slots = boxes(data.slots), widest = data.cell + HAIR;
    figures.fill("scene_slots", asShelves(slots, widest), ["fill", "line"]);
    const lines = rowsOf(data.lines, (i) => this.namesOthers || data.lines.line[i] !== data.others), { xs, ys } = lines, ways = xs.map((x, i) => this.line(x.map((at, k) => [at, ys[i][k]])));
    figures.fill("scene_lines", { ...lines, xs: ways.map((way) => way.map(([x]) => x)), ys: ways.map((way) => way.map(([, y]) => y)) }, ["line"]);
    this.taken = [];
    figures.fill("scene_texts", this.columns(this.standing(), this.taken), ["ink"]);
    this.palette = {};
    for (const [stage, role] of Object.entries(data.roles)) this.palette[stage] = figures.colour(role);
    if (data.sums.role) this.palette[SUM] = figures.colour(data.sums.role);
    this.rims = {};
    for (const [stage, role] of Object.entries(data.roles)) this.rims[stage] = figures.colour(`${role}-ink`);
    this.edge = figures.colour("box");
    const tint = figures.colour("tint");
    this.pale = Object.fromEntries(Object.entries(this.palette).map(([stage, colour]) => [stage, mixed(colour, tint, PALE)])); // no dots are seen through it
    this.lastWords = "";
  }

  // Boxes with what is seen through them mixed into their colours: where a narrow wire turns, two lie on each other and are one path.
  opaque(columns) {
    const box = this.figures.colour("box"), solid = (colour) => (/^#.{8}$/.test(colour) ? mixed(colour, box, parseInt(colour.slice(7), 16) / 255) : colour);
    return { ...columns, fill: columns.fill.map((role) => solid(this.figures.colour(role))) };
  }

  // Where the table of registrations is marked as what a run waits for, the NIC beside it is not: one mark is one place.
  marked(columns) {
    if (this.meta.hot !== "registration") return columns;
    const hot = columns.line.map((role) => role === "hot");
    return { ...columns, line: columns.line.map((role, i) => (hot[i] ? "edge" : role)), width: columns.width.map((width, i) => (hot[i] ? PLAIN : width)) };
  }

  // The words that stand still; of a narrow picture the names first, which have the room then.
  standing() {
    const { x, y, text, size, style, ink, align } = this.data.texts, words = x.map((_, i) => [x[i], y[i], text[i], size[i], style[i], ink[i], align[i]]);
    if (!this.narrow) return words.map((word) => this.between(this.asRead(word, words))).flatMap((word, _, all) => this.aired(this.figures.sparse ? this.centred(word, all) : this.spread(word, all)));
    return this.asNarrow(words.flatMap((word) => this.aired(this.spread(word, words))));
  }

  // Words of a narrow picture: without lines that are too near to the name above them.
  asNarrow(words) {
    const above = (word) => words.find((other) => other[0] === word[0] && other[1] < word[1] && word[1] - other[1] < NEXT_LINE);
    const isNear = (word) => above(word)?.[4] === "bold" && word[1] - above(word)[1] < NARROW_LINE; // letters of both would almost touch
    const isAlone = (name) => words.some((word) => above(word) === name && isNear(word)); // the line below it has no room
    const inPlace = (word) => { // a third line takes the place of a second that has no room below its name
      const second = above(word), name = second && above(second);
      return name && isNear(second) ? [word[0], name[1] + NEXT_LINE, ...word.slice(2)] : word;
    };
    return words.filter((word) => !isNear(word)).map((word) => (word[4] === "bold" && isAlone(word) ? this.centred(word, words) : inPlace(word))).sort((a, b) => (b[4] === "bold") - (a[4] === "bold"));
  }

  // How many pixels a unit is high.
  get down() {
    return this.scale / this.squeeze;
  }

  // Which box a word stands in.
  boxOf([x, y]) {
    const { left, top, right, bottom } = this.data.boxes;
    return left.findIndex((_, i) => left[i] < x && x < right[i] && top[i] < y && y < bottom[i]);
  }

  // Name and one line below it, in what a box has free, as far apart as their letters need.
  spread(word, words) {
    const at = this.boxOf(word), both = at < 0 ? [] : words.filter((other) => this.boxOf(other) === at);
    if (both.length !== 2) return word;
    const letters = parseFloat(this.px(both[1][3])), [top, bottom] = this.freeOf(at), room = (bottom - top) * this.down;
    const least = Math.max(LINE, Math.min(LINE_OF_LETTERS * letters, room - LETTERS_IN_BOX * letters)) / this.down;
    if (both[1][1] - both[0][1] >= least || room < 2 * LINE) return word;
    return [word[0], (top + bottom + (word === both[0] ? -least : least)) / 2 + (this.narrow ? 0 : (LOWER * letters) / this.down), ...word.slice(2)];
  }

  // From where to where a box is free for words: down to its places for slices, if it has some.
  freeOf(at) {
    const { boxes, slots } = this.data, [left, top, right, bottom] = ["left", "top", "right", "bottom"].map((side) => boxes[side][at]);
    return [top, Math.min(bottom, ...slots.top.filter((place, i) => slots.left[i] > left && slots.right[i] < right && top < place))];
  }

  // A word at the side of a node where boxes and links above and below it leave it some air; none where they leave too little.
  aired(word) {
    const { boxes, pipes } = this.data, { down, scale } = this, [x, y, text, size, style, , align] = word, wide = this.across(text, size, style), letters = parseFloat(this.px(size)), [over, under] = [INK.above, INK.below].map((share) => share * letters + AIR);
    if (align === "center" || !this.reads(style)) return [word];
    const [from, to] = align === "left" ? [x, x + wide] : [x - wide, x], beside = (shapes) => shapes.left.flatMap((left, i) => (left < to && from < shapes.right[i] ? [[shapes.top[i], shapes.bottom[i]]] : []));
    const all = [...beside(boxes), ...beside(pipes)];
    if (all.some(([top, bottom]) => top < y && y < bottom)) return [word];
    const above = Math.max(...all.map(([, bottom]) => bottom).filter((bottom) => bottom <= y), -SCENE_HEIGHT), below = Math.min(...all.map(([top]) => top).filter((top) => top >= y), 2 * SCENE_HEIGHT);
    return (below - above) * down < over + under ? [] : [[x, Math.max(above + over / down, Math.min(y, below - under / down)), ...word.slice(2)]];
  }

  // A word as it is written where only names are: how busy something is, too, if that is no wider than its box, in the place of a rate above it. A slide has
  // larger words and its own.
  asRead([x, y, text, size, style, ...form], words) {
    const word = [x, y, text, size, style, ...form], { boxes } = this.data, own = this.box(word);
    const isOther = NIC_RATE.test(text) && words.some(([, , rate]) => NIC_RATE.test(rate) && rate !== text); // as of a slow node
    if (!this.figures.sparse || style === "bold" || !(isOther || READ_ANYWHERE.test(text))) return word;
    const at = this.boxOf(word);
    const rate = at < 0 && words.find((other) => other[0] === x && other[1] < y && y - other[1] < NEXT_LINE && other[4] !== "bold" && !READ_ANYWHERE.test(other[2]));
    return at >= 0 && own.right - own.left > (boxes.right[at] - boxes.left[at]) * this.scale - BESIDE_EDGES ? word : [x, rate ? rate[1] : y, text, size, READ, ...form];
  }

  // Where only names are written, a name stands in the middle of what its box has free: above the buffers, if there are some, and on no way; of *CPU cores* the
  // first word alone where slices would cross it.
  centred(word, words) {
    const [x, y, text, size, style, ...form] = word, { boxes, lines } = this.data;
    if (style !== "bold") return word;
    const at = this.boxOf(word), [from, , to] = this.data.nic, isNic = at >= 0 && y > BESIDE_BOXES && [x, SCENE_WIDTH - x].some((place) => from < place && place < to); // slices end at its edge
    if (at < 0 || words.some((other) => other[4] === READ && other[0] === x && boxes.top[at] < other[1] && other[1] < boxes.bottom[at])) return word;
    const own = this.box(word);
    if (text.startsWith("CPU ") && (own.right - own.left) / this.scale > boxes.right[at] - boxes.left[at] - 2 * BESIDE_NAME) return this.centred([x, y, "CPU", size, style, ...form], words);
    const [top, bottom] = this.freeOf(at), moved = [x, (top + bottom) / 2, text, size, style, ...form], { left, right } = this.box(moved), half = (right - left) / 2 / this.scale, high = size / 2 / this.scale;
    const crosses = lines.xs.some((xs, i) => xs.some((end, k) => k && Math.min(xs[k - 1], end) < x + half && Math.max(xs[k - 1], end) > x - half && Math.min(lines.ys[i][k - 1], lines.ys[i][k]) < moved[1] + high && Math.max(lines.ys[i][k - 1], lines.ys[i][k]) > moved[1] - high));
    return crosses && !isNic ? word : moved;
  }

  // Whether the picture keeps to the slices from one node to the other: on a slide with a title of its own, which is looked at for a minute. What a switch adds up is from all.
  get ownOnly() {
    return document.documentElement.hasAttribute("data-framed") && !this.data.sums.role;
  }

  // Whether the nodes that are not shown have a name, and so a way: not where words are larger than their place, or nobody else is drawn.
  get namesOthers() {
    return !this.ownOnly && this.scale >= this.least / 12;
  }

  // Whether words are larger beside boxes than in the lab, as on a slide: some are shorter then.
  get enlarged() {
    return !this.figures.sparse && this.figures.sceneText > ENLARGED * this.scale;
  }

  // A word in the middle between the nodes; where words are larger than their place and it is wider than the room there, without its end, or its figure alone.
  between(word) {
    const [x, y, text, ...form] = word, { left, right } = this.box(word);
    if (this.enlarged) return [x, y, text.replace(/^(wire, .*) each way/, "$1"), ...form];
    const room = (SCENE_WIDTH - 2 * NODE_WIDTH) * this.scale, wide = this.figures.sparse && x === SCENE_WIDTH / 2 && right - left > room;
    if (!wide) return word;
    const shorter = [x, y, text.replace(/ each way$/, ""), ...form], box = this.box(shorter);
    return box.right - box.left > room ? [x, y, text.split(", ").at(-1), ...form] : shorter;
  }

  // Words that are read and have room, as columns. A word that gives way (its eighth entry) comes behind all that do not, and is left out where its
  // place is not free.
  columns(words, taken) {
    const columns = { x: [], y: [], text: [], size: [], style: [], ink: [], align: [], baseline: [] };
    const gives = (word) => word.length > 7, byRoom = [...words.filter((word) => !gives(word)), ...words.filter(gives)];
    for (const word of this.narrow ? narrowWords(byRoom) : byRoom) {
      const [, y, text, size, style, ink, align] = word;
      if (!this.reads(style) || (gives(word) && this.lies(word, taken)) || !this.fits(word, taken)) continue;
      const row = { x: this.inSight(word), y, text, size: this.px(size), style: style === READ ? "normal" : style, ink, align, baseline: "middle" };
      for (const name in columns) columns[name].push(row[name]);
    }
    return columns;
  }

  // Where a word stands across, so that no end of it leaves a picture in which words are larger than their place.
  inSight([x, , text, size, style, , align]) {
    if (!this.figures.sparse || align !== "center") return x;
    const half = widthOf(text, parseFloat(this.px(size)), style === "bold") / this.scale / 2 + 4;
    return Math.max(half, Math.min(x, this.units.width - half));
  }

  // A broken line as this picture has it.
  line(points) {
    return this.narrow ? narrowLine(points) : points;
  }

  // Which place of the wide picture is meant by one of this.
  wide(place) {
    return this.narrow ? widePoint(place) : place;
  }

  // How much there is: what was painted for it need not be painted again. How high rows of the timeline are depends on the window.
  room() {
    return `${this.host.clientWidth} x ${this.host.clientHeight} in ${window.innerHeight}`;
  }

  // Whether words of a style are written: where there is little room, only names are.
  reads(style) {
    return style === "bold" || style === READ || this.narrow || !this.figures.sparse;
  }

  // The style of words that are no names and are written all the same.
  get style() {
    return this.figures.sparse && !this.narrow ? READ : "normal";
  }

  // Whether the registration table has its place: a slide shows it where registering is what the run waits for.
  get hasTable() {
    return this.meta.hot === "registration" || !(this.page.root.hasAttribute("data-roomy") || document.documentElement.hasAttribute("data-framed"));
  }

  // Where the ring stands, and the words beside or below it.
  get ring() {
    if (this.ownOnly && this.enlarged && this.meta.hot !== "registration") return SLIDE_RING;
    return this.besideWords;
  }

  // The ring with the words beside it, both in the middle between the nodes; they do not move when a step has one more digit. Without a table it
  // stands in the middle above what is written there, too.
  get middleRing() {
    const ring = this.figures.sparse ? SPARSE_RING : RING, { words, radius, dot } = ring, { steps } = this.meta, { x, y } = this.data.texts;
    const highest = Math.min(...y.filter((_, i) => x[i] === SCENE_WIDTH / 2)) - HALF_LINE;
    return { ...ring, y: this.hasTable || !Number.isFinite(highest) ? ring.y : highest / 2, x: (SCENE_WIDTH + radius + dot - words - this.across(`step ${steps} of ${steps}`, 13, "bold")) / 2 };
  }

  // Whether words have room; where they are larger than their place, those that come first have it.
  fits(word, taken) {
    if (this.figures.sparse && this.lies(word, taken)) return false;
    taken.push(this.box(word));
    return true;
  }

  // Whether words would lie on others, or so near that both read as one.
  lies(word, taken) {
    const box = this.box(word), apart = (box.bottom - box.top) / 3;
    return taken.some((other) => meet({ ...box, left: box.left - apart, right: box.right + apart }, other));
  }

  // The box of words, in pixels.
  box(word) {
    const [, y, text, size, style, , align] = word, letters = parseFloat(this.px(size)), wide = widthOf(text, letters, style === "bold");
    const left = this.inSight(word) * this.scale - { left: 0, center: wide / 2, right: wide }[align], middle = (y * this.scale) / this.squeeze;
    return { left, right: left + wide, top: middle - letters / 2, bottom: middle + letters / 2 };
  }

  // How much of the scene words take.
  across(text, size, style) {
    return widthOf(text, parseFloat(this.px(size)), style === "bold") / this.scale;
  }

  px(size) {
    return `${Math.max(this.least, size * (this.figures.sceneText ?? Math.min(this.scale, LARGEST))).toFixed(1)}px`; // words need not grow as far as boxes do
  }

  // Draws the moment `time` (microseconds); `pace` is microseconds per second of watching.
  draw(time, pace) {
    const slices = (this.shown = this.slices(time));
    this.drawSlices(slices);
    this.drawWords(time, pace, slices);
  }

  // Where every slice is: the parts of ways that are filled (`trains`), what stands still (`placed`), what waits on its way
  // (`queued`), and how many wait for each stage.
  slices(time) {
    const { moves, data } = this, found = { trains: [], placed: [], queued: [] }, waiting = {}, OWN = 1, { ownOnly } = this;
    moves.between(time, time, (i, shift, j, segment) => {
      if (time >= moves.until[i] + shift) return;
      const stage = moves.stage[i], device = moves.device[i];
      if (time < moves.start[i] + shift) {
        if (moves.whose[i] & OWN) (waiting[`${stage},${device}`] ??= []).push(moves.enter[i] + shift);
        return;
      }
      const times = PASSED.map((name) => moves[name][i] + shift), odd = (moves.slice[i] + moves.step[i] + j * segment.steps) % 2;
      this.ways[stage][device].forEach((way, variant) => {
        if (way && moves.whose[i] & (1 << variant) && !(variant && ownOnly)) this.place(found, { time, times, stage, device, variant, way, row: i, shift, j, segment, odd, hollow: variant > 0 });
      });
    });
    const counts = {};
    for (const [key, entered] of Object.entries(waiting)) {
      const [stage, device] = key.split(",");
      const places = data.waiting[stage][device];
      counts[stage] = (counts[stage] ?? 0) + entered.length;
      for (let i = 0; i < Math.min(entered.length, places.length); i++)
        found.placed.push({ x: places[i][0], y: places[i][1], stage, hollow: false });
    }
    return { ...found, counts };
  }

  // Adds one slice on one of its ways to what was `found`.
  place(found, one) {
    const { time, times, stage, device, variant, way } = one, stops = this.data.stops[stage][device][variant];
    if (way.points.length < 2) {
      if (time < times[THROUGH]) found.placed.push({ ...one, x: way.points[0][0], y: way.points[0][1] });
      return;
    }
    const rises = (part) => Boolean(this.data.sums.role) && variant === 1 && part.from === stops[0]; // node 1's slices up to the switch, like node 0's
    for (const part of occupied(time, times, stops)) found.trains.push({ ...one, part, crosses: part.wire || rises(part), points: way.stretch(part.from, part.to) });
    const phase = phaseOfWait(time, times, stops);
    if (phase !== null) found.queued.push({ ...one, phase, since: times[phase ? LANDED : FREED] });
    if (!variant && time >= times[THROUGH]) found.placed.push({ ...one, ...way.at(1) }); // until it goes on
  }

  drawSlices({ trains, placed, queued }) {
    this.drawTrains(trains, queued);
    const source = this.figures.model("scene_slices");
    if (placed.length > this.capacity) {
      this.capacity = Math.max(64, 2 * placed.length);
      const blank = (value) => new Array(this.capacity).fill(value);
      source.data = { x: blank(NaN), y: blank(NaN), fill: blank("#000"), line: blank("#000"), size: blank(0) };
    }
    const { x, y, fill, line, size } = source.data, zoom = Math.min(this.scale, 1.4), solid = 9 * zoom, small = 7.5 * zoom;
    for (let i = 0; i < this.capacity; i++) {
      const one = placed[i];
      [x[i], y[i]] = one ? (this.narrow ? narrowPoint([one.x, one.y]) : [one.x, one.y]) : [NaN, NaN];
      if (!one) continue;
      const sum = this.data.sums.role && one.way && !one.variant, colour = this.palette[sum ? SUM : one.stage], hollow = one.hollow && !this.data.sums.role;
      fill[i] = hollow ? this.edge : colour;
      line[i] = hollow ? colour : this.edge;
      size[i] = hollow ? small : solid;
    }
    source.change.emit();
  }

  // Draws slices under way as long as what they fill, and those that wait in front of it; every other slice is paler.
  drawTrains(trains, queued) {
    const rows = { xs: [], ys: [], line: [], width: [], alpha: [] }, source = this.figures.model("scene_trains"), zoom = this.scale;
    const draw = (points, colour, width) => {
      rows.xs.push(points.map(([x]) => x));
      rows.ys.push(points.map(([, y]) => y));
      rows.line.push(colour);
      rows.width.push(width);
      rows.alpha.push(1);
    };
    const [left, top, right, bottom] = this.data.nic, nics = [[left, top, right, bottom], [SCENE_WIDTH - right, top, SCENE_WIDTH - left, bottom]];
    const add = (train, way, full) => nics.reduce((parts, nic) => parts.flatMap((part) => outside(part, nic)), [way]).forEach((part) => addPart(train, part, full));
    const addPart = ({ stage, odd, hollow, crosses }, way, full) => {
      const points = this.line(way), rim = crosses && this.rims[stage], width = Math.max(THINNEST, hollow ? THIN * full : full); // the neighbours' are in the background
      if (rim && !hollow) draw(longer(points, RIM / zoom), rim, width + 2 * RIM);
      draw(points, hollow && rim ? rim : (odd && !hollow ? this.pale : this.palette)[stage], width);
    };
    const { breadth, bus, sums } = this.data;
    for (const { points } of trains) this.cover(rows, points, bus);
    const order = ({ hollow, crosses }) => (!hollow ? 1 : crosses ? 0 : 2); // thin ones are seen on broad ones in a port, and pass below them on the wire, as they go the other way
    for (const one of [...trains].sort((a, b) => order(a) - order(b))) {
      const width = (one.crosses ? BROAD : breadth) * zoom;
      if (!sums.role) add(one, one.points, width);
      else for (const { points, summed } of besideSwitch(one.points, one.variant, sums)) add({ ...one, stage: summed ? SUM : one.stage, hollow: false }, points, width);
    }
    this.queues = {};
    for (const one of queued.sort((a, b) => a.since - b.since)) {
      const places = this.data.queues[one.stage][one.phase][one.variant], key = places.length ? places[0].join() : "";
      one.queue = this.queues[key] ??= { count: 0, places, node: one.variant };
      one.at = one.queue.count++;
    }
    for (const one of queued) {
      const { count, places } = one.queue;
      if (one.at >= (count > places.length ? places.length - 2 : count)) continue;
      const [x, y] = places[one.at];
      one.points = [[x - BAR / 2, y], [x + BAR / 2, y]];
      add(one, one.points, 4 * zoom);
    }
    source.data = rows;
  }

  // Hides the dots of a way in a switch where a slice is, which goes beside them.
  cover(rows, points, bus) {
    for (let i = 1; i < points.length; i++) {
      const leg = points.slice(i - 1, i + 1);
      if (leg.some(([, y]) => Math.abs(y - bus) > ON_SWITCH)) continue;
      const [from, to] = this.line(longer(leg.map(([x]) => [x, bus]), BESIDE_CORNER));
      rows.xs.push([from[0], to[0]]);
      rows.ys.push([from[1], to[1]]);
      rows.line.push(this.edge);
      rows.width.push(COVER * this.scale);
      rows.alpha.push(1);
    }
  }

  drawWords(time, pace, { counts }) {
    const words = [], quads = [];
    this.lags = this.late?.at(time) ?? [];
    this.addArrows(words);
    this.addNames(words, time);
    this.addQueues(words);
    this.addBadges(words, counts);
    const ring = this.addRing(words, time);
    if (!this.narrow && this.hasTable) this.table.add(words, quads, time, pace, { hot: this.meta.hot === "registration", wide: (...word) => this.across(...word), style: this.style });
    const key = JSON.stringify([words, quads, this.scale, this.figures.theme]);
    this.figures.fill("scene_late", this.lateRing);
    if (key === this.lastWords) return;
    this.lastWords = key;
    this.figures.fill("scene_ring", ring, ["fill"]);
    this.figures.fill("scene_words", this.columns(words, [...this.taken]), ["ink"]);
    const rows = { left: [], right: [], top: [], bottom: [], fill: [], line: [] };
    for (const [left, top, right, bottom, fill, line] of quads) {
      const row = { left, top, right, bottom, fill, line };
      for (const name in rows) rows[name].push(row[name]);
    }
    this.figures.fill("scene_rows", rows, ["fill", "line"]);
  }

  // Which way slices go on either side of the uplink.
  addArrows(words) {
    for (const [x, y, arrow, ink] of this.data.arrows) words.push([x, y, arrow, 12, "bold", ink, "center"]);
  }

  // How many wait where they stand in memory, unless the number of those on their way is written there.
  addBadges(words, counts) {
    const taken = [...this.taken, ...words.map((word) => this.box(word))];
    const places = new Map(); // in one memory slices may wait for several stages
    for (const [stage, count] of Object.entries(counts)) {
      const badge = this.data.badges[stage], place = String(badge);
      places.set(place, { badge, waiting: count + (places.get(place)?.waiting ?? 0) });
    }
    for (const { badge: [at, y, align], waiting } of places.values()) {
      const x = this.besideQueue(at, y, align);
      const word = [x, y, this.sayWaiting(waiting, align === "right" ? x : SCENE_WIDTH - x), 11, this.style, "muted", align];
      if (waiting >= 3 && !this.lies(word, taken)) words.push(...this.aired(word));
    }
  }

  // Where words end that would end at a place: left of slices that stand there and wait for something else.
  besideQueue(x, y, align) {
    if (align !== "right") return x;
    const stand = Object.values(this.queues).flatMap(({ count, places }) => places.slice(0, count)).filter(([left, top]) => x - 20 < left && left - BAR / 2 < x && Math.abs(top - y) < 10);
    return Math.min(x, ...stand.map(([left]) => left - BAR / 2 - 4));
  }

  // How many slices wait; in short where words are larger than their place, or than the room to the edge of the picture.
  sayWaiting(count, room = 2 * SCENE_WIDTH) {
    const words = sayWaiting(count), wide = widthOf(words, parseFloat(this.px(12))) / this.scale;
    return (this.figures.sparse && !this.narrow) || wide > room - BOX_EDGE ? words.replace(/ slices?/, "") : words;
  }

  // How many wait on their way: below those beside a NIC, if there is room; above all others, clear of the arrow there.
  addQueues(words) {
    for (const { count, places } of Object.values(this.queues)) {
      if (!places.length) continue;
      if (count > places.length) words.push([places[0][0], (places.at(-1)[1] + places.at(-2)[1]) / 2, MORE, 12, "bold", "muted", "center"]);
      if (this.isSaidAtFirst(count, places)) continue;
      const [x, y] = places[Math.min(count, places.length) - 1], left = x < SCENE_WIDTH / 2;
      const [aside, align] = left ? [x + BAR / 2, "right"] : [x - BAR / 2, "left"]; // clear of "from node 3", and as high
      if (places[0][1] > BESIDE_BOXES) words.push([aside, this.data.names.other[2], this.sayWaiting(count), 11, this.style, "muted", align, true]);
      else {
        const room = Math.max(ARROW_ROOM.units, ARROW_ROOM.px / this.scale), end = left ? x + BAR / 2 - room : x - BAR / 2 + room;
        words.push([end, y - 9, this.sayWaiting(count, left ? end : SCENE_WIDTH - end), 11, this.style, "muted", align]);
      }
    }
  }

  // Whether the first node says that as many wait at the same place of it: the second does not say it once more.
  isSaidAtFirst(count, [[x, y]]) {
    return x > SCENE_WIDTH / 2 && Object.values(this.queues).some(({ count: other, places: [at] }) => at && Math.abs(at[0] + x - SCENE_WIDTH) < 1 && at[1] === y && other === count);
  }

  // Who is shown: the same two nodes all the time, or a partner that changes from step to step. Where words are larger than their place, they stand below the boxes.
  addNames(words, time) {
    const { sight, names } = this.data, step = Math.min(this.steps.latest(time), sight.partner.length - 1), partner = sight.partner[step], { node, other } = names;
    const { sparse } = this.figures, low = sparse && !this.narrow && other[2] < LOW;
    // on a slide no name moves when the partner has one more digit
    const longest = this.enlarged ? this.across(`${sight.unit} ${this.meta.nodes - 1}`, 12, "bold") : 0;
    const addName = (number, [edge, y], align) => {
      const name = `${sight.unit} ${number}`, slow = this.sayWhatIsSlow(number, this.enlarged || (sparse && !low)), wide = this.across(name, 12, "bold");
      const aside = this.enlarged ? (node[0] + longest > BESIDE_HOST ? 5 : 0) : sparse && !low && node[0] + Math.max(wide, ...slow.map((word) => this.across(word, 12, "bold"))) > (this.narrow ? NARROW_HOST : BESIDE_HOST) ? 9 : 0, x = align === "left" ? edge - aside : edge + aside, beside = wide + 6 / this.scale;
      words.push([x, y, name, 12, "bold", "ink", align]);
      if (low && slow.length) words.push([align === "left" ? x + beside : x - beside, y, slow.join(" "), 12, "bold", "hot-ink", align]);
      else slow.forEach((word, i) => words.push([x, y + (this.narrow ? 24 + 18 * i : 15 + 14 * i), word, 12, "bold", "hot-ink", align]));
    };
    addName(sight.node, [node[0], low ? other[2] : node[2]], "left");
    if (partner >= 0) addName(partner, [node[1], low ? other[2] : node[2]], "right");
    if (!this.namesOthers) return;
    if (sight.source[step] >= 0) words.push([other[0], other[2], `from ${sight.unit} ${sight.source[step]}`, 11, "normal", "muted", "right"]);
    if (sight.beyond[step] >= 0) words.push([other[1], other[2], `to ${sight.unit} ${sight.beyond[step]}`, 11, "normal", "muted", "left"]);
  }

  // What is slow at a node, in the lines that there is room for beside its name.
  sayWhatIsSlow(number, short) {
    const { slow } = this.data.sight, [what, ...rest] = (slow[number] || "").split(" "), share = rest.filter((part) => !short || part !== "at").join(" ");
    return what ? (this.narrow && this.host.clientWidth >= ONE_LINE ? [`${what} ${share}`] : [what, share]) : [];
  }

  // Whether a chip above the picture says what is slow or lost: in the lab, where that is at one node. Its mark stands there, and no ring says it once more.
  get isToldByChip() {
    return Object.keys(this.data.sight.slow).length === 1 && Boolean(this.page.root.closest(".pl-explorer")?.querySelector(".pl-fault"));
  }

  // The ring: nodes whose contribution a slice of the first step that is not over carries when it arrives (or that have the finished one then).
  addRing(words, time) {
    const { ring } = this, { nodes, steps, reducing, collective, sums } = this.meta, columns = { x: [], y: [], fill: [], size: [] };
    this.lateRing = NO_RING;
    if (!steps || this.meta.collective === "point-to-point") return columns;
    const step = this.steps.first(time), dots = Math.min(nodes, ring.dots), doing = collective === "alltoall" ? "exchanging" : sums ? "in the switches" : step < reducing ? "adding up" : "handing out";
    if (this.narrow) {
      const [said, below] = [narrowStep(0), narrowStep(1)];
      const latest = this.sayLatest();
      words.push([...said, `step ${step + 1} of ${steps}`, 12, "bold", "ink", "left"], latest ? [...below, latest, 11, "normal", "ink", "left"] : [...below, doing, 11, "normal", "muted", "left"]);
      return columns;
    }
    const reached = this.meta.sums ? nodes : this.meta.ring ? (step % (nodes - 1)) + 2 : 1, lit = Math.max(1, Math.round((reached * dots) / nodes));
    // round on the page, and clear of what is above and below it, however flat the scene is
    const down = Math.max(4, Math.min(ring.radius * this.squeeze, ring.radius)), across = down / this.squeeze;
    for (let i = 0; i < dots; i++) {
      const angle = (2 * Math.PI * i) / dots - Math.PI / 2, back = (dots - i) % dots;
      columns.x.push(ring.x + across * Math.cos(angle));
      columns.y.push(ring.y + down * Math.sin(angle));
      columns.fill.push(back < lit ? "ink" : "faint");
      columns.size.push((i === 0 ? 8 : dots > 12 ? 4 : 6.5) * (ring.below ? 1.6 : 1) * this.scale);
    }
    const { partner } = this.data.sight, mate = partner[Math.min(this.steps.latest(time), partner.length - 1)]; // the one whose name stands at the other node
    if (!this.meta.ring && !this.meta.sums && mate >= 0) columns.fill[Math.round((((mate - this.data.sight.node + nodes) % nodes) * dots) / nodes) % dots] = "ink";
    if (this.late && !this.isToldByChip) this.lateRing = this.late.ring(this.lags, { ...ring, across, down }, this.scale, this.figures.colour("hot"));
    const latest = this.sayLatest(); // in the place of what is done: so nothing moves when it is known
    const [first, second] = ring.below ? ring.below.map((y) => [ring.x, y, "center"]) : [-8, 8].map((down) => [ring.x + ring.words, ring.y + down, "left"]);
    const addWord = ([x, y, align], text, size, style, ink) => words.push([x, y, text, size, style, ink, align]);
    addWord(first, `step ${step + 1} of ${steps}`, 13, "bold", "ink");
    addWord(second, latest || doing, 11, this.style, latest ? "ink" : "muted");
    if (ring.below) {
      addWord([ring.x, ring.y - 8, "center"], `${nodes}`, 20, "bold", "ink");
      addWord([ring.x, ring.y + 11, "center"], `${this.data.sight.unit}s`, 11, this.style, "muted");
    } else addWord([ring.x, ring.y, "center"], `${nodes}`, 11, "bold", "muted");
    return columns;
  }

  // Which node is latest at this moment, and how late; nothing where nobody is late enough to be seen in the ring.
  sayLatest() {
    const most = Math.max(0, ...this.lags);
    if (!(most >= LEAST_LATE * this.late?.most_us)) return "";
    const latest = this.late.nodes[this.lags.indexOf(most)];
    if (this.isToldByChip && this.data.sight.slow[latest] && latest === this.data.sight.node) return ""; // chip and tag say that this node is slow
    const { ring } = this, late = `${sayTime(most)} late`, who = `${this.data.sight.unit} ${latest}`, letters = parseFloat(this.px(11));
    const fits = (text) => this.narrow || widthOf(text, letters) / this.scale <= (ring.below ? SCENE_WIDTH - 2 * NODE_WIDTH - BESIDE_RING : SCENE_WIDTH - NODE_WIDTH - ring.x - ring.words);
    return [`${who} is ${late}`, `${who}: ${late}`].find(fits) ?? late;
  }
}

// Boxes of which the places of a row in one memory are one, as in a device: 64 empty squares outshone the slices. What is wider than a place stays as it is.
function asShelves(columns, widest) {
  const left = [...columns.left], right = [...columns.right], firsts = new Map();
  const shown = left.map((x, i) => {
    if (right[i] - x > widest) return true;
    const row = `${columns.top[i]} ${x > SCENE_WIDTH / 2}`, first = firsts.get(row);
    if (first === undefined) return Boolean(firsts.set(row, i));
    left[first] = Math.min(left[first], x);
    right[first] = Math.max(right[first], right[i]);
    return false;
  });
  return rowsOf({ ...columns, left, right }, (i) => shown[i]);
}

// The parts of a broken line outside a box: a slice ends at the edge of a NIC, and the words in it stand alone.
function outside(points, [left, top, right, bottom]) {
  const parts = [[]], sides = [[left, right], [top, bottom]];
  for (let i = 1; i < points.length; i++) {
    const [from, to] = [points[i - 1], points[i]], at = (share) => from.map((begin, k) => begin + (to[k] - begin) * share);
    let [enter, leave] = [0, 1];
    sides.forEach(([low, high], k) => {
      const way = to[k] - from[k], ends = [(low - from[k]) / way, (high - from[k]) / way];
      if (!way) return void (leave = low < from[k] && from[k] < high ? leave : -1);
      [enter, leave] = [Math.max(enter, Math.min(...ends)), Math.min(leave, Math.max(...ends))];
    });
    if (leave <= enter) [enter, leave] = [1, 2];
    if (enter > 0) parts.at(-1).push(...(parts.at(-1).length ? [at(enter)] : [from, at(enter)]));
    if (leave <= 1) parts.push(leave < 1 ? [at(leave), to] : []);
  }
  return parts.filter((part) => part.length);
}

// A broken line that goes on beyond both of its ends. Lines are level or upright: less than a hair aside is what a sum of lengths leaves.
function longer(points, more) {
  const step = (to, from) => (Math.abs(to - from) > HAIR ? Math.sign(to - from) * more : 0), beyond = ([x, y], [fromX, fromY]) => [x + step(x, fromX), y + step(y, fromY)];
  return [beyond(points[0], points[1]), ...points.slice(1, -1), beyond(points.at(-1), points.at(-2))];
}

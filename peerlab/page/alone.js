// A page that plays without a kernel: one view or two beside each other, its own controls, a link to every state.
import { Album, Pack } from "./album.js";
import { patchOwnBokeh } from "./bokeh_patches.js";
import { Choices } from "./choices.js";
import { make } from "./dom.js";
import { Footer } from "./footer.js";
import { followSlides, passKeysOn } from "./frame.js";
import { SPARSE } from "./page.js";
import { PageAlone } from "./page_alone.js";
import { painted } from "./turns.js";

const FIGURE_TEXT = 1.5; // a single figure is read from the last row: the smallest text is 18 px at 1280 x 720
const FRAMED_TEXT = 1.4; // below a slide's title it has less room
const SMALLEST = { scene: 11, other: 12 };
const SLIDE = { "16:9": 1280, "4:3": 1024 }; // pixels: as wide as a slide of this ratio is drawn
const LEAST_ZOOM = 11 / SMALLEST.other; // no word of a slide is smaller than 11 pixels
const LEAST_SLIDE = 0.84; // of its width: in less room than that the page is a column that scrolls

// How large a slide is in this window, beside what it is drawn for; a page knows by its data-layout whether it is one.
function fitWindow(mode) {
  const { dataset } = document.documentElement, [wide, high] = dataset.ratio.split(":"), across = dataset.framed ? innerWidth : Math.min(innerWidth, (innerHeight * wide) / high), size = across / SLIDE[dataset.ratio];
  dataset.layout = size * (mode === "figure" ? FIGURE_TEXT : 1) >= LEAST_SLIDE ? "slide" : "stacked";
  return size;
}

class AloneFooter extends Footer {
  paint() {
    super.paint();
    this.caption.append(make("span", "pl-version", `peerlab ${this.page.wanted.version}`));
    for (const list of this.caption.querySelectorAll(".pl-sources")) list.tabIndex = 0; // it scrolls
  }
}

class AlonePage extends PageAlone {
  constructor(album, host, wanted, leader = null) {
    super(album, host, leader);
    this.wanted = wanted;
  }

  get kinds() {
    return { ...super.kinds, footer: AloneFooter };
  }

  build() {
    super.build();
    if (this.leader) return;
    const shared = document.querySelector(".pl-shared"), both = this.wanted.mode === "side-by-side";
    shared.append(...(this.seated ? [] : [this.find(".pl-player")]), ...(both ? [] : [this.find(".pl-footer")]));
  }

  get seated() {
    return this.wanted.mode === "explorer";
  }

  dark() {
    return this.wanted.theme === "auto" ? super.dark() : this.wanted.theme === "dark";
  }

  applyData() {
    this.player.rest(); // frames of the old picture would only be in the way of the new one
    super.applyData();
  }

  // Words grow with the page, so that a slide reads alike on a small screen and a large one.
  fit() {
    const size = fitWindow(this.wanted.mode), wide = document.documentElement.dataset.layout === "slide", single = this.wanted.mode === "figure" && wide;
    const slide = wide ? Math.max(size, LEAST_ZOOM) : 1, zoom = single ? Math.max(size * (document.documentElement.dataset.framed ? FRAMED_TEXT : FIGURE_TEXT), LEAST_ZOOM) : slide;
    document.documentElement.style.setProperty("--pl-zoom", zoom.toFixed(3));
    this.scene.fold(!wide);
    const { clientWidth: across, clientHeight: down } = this.find(".pl-scene"), { width, height } = this.scene.units;
    const sparse = across < SPARSE, fits = Math.min(((sparse ? 1.5 : 1) * across) / width, (1.15 * down) / height);
    this.figures.setZoom(zoom, single ? (zoom * SMALLEST.other) / SMALLEST.scene : fits, sparse);
  }

  onKey(event) {
    const own = event.target.matches(".pl-choices input[type=range]") && /^(Arrow|Home|End|PageUp|PageDown| )/.test(event.key);
    if (!own && !this.leader) super.onKey(event);
  }
}

function followLinks(choices) {
  addEventListener("hashchange", () => choices.follow(location.hash.slice(1), (numbers) => choices.go(numbers)));
  choices.follow(location.hash.slice(1), (numbers) => choices.begin(numbers));
  choices.albums[0].on("change:choices", async () => {
    await painted(); // what answers a switch is painted first
    try {
      history.replaceState(null, "", `#${choices.link}`);
    } catch {
      // a frame without an address of its own has no link
    }
  });
}

async function begin() {
  const pack = await Pack.open(document.getElementById("pl-pack").textContent), wanted = pack.document;
  const albums = wanted.states.map((_, side) => new Album(pack, side));
  const choices = new Choices(document.querySelector(".pl-choices"), albums, wanted.subject);
  followLinks(choices);
  const pages = [];
  fitWindow(wanted.mode);
  patchOwnBokeh();
  for (const [side, album] of albums.entries()) {
    const host = make("section", "pl-side");
    if (albums.length > 1) host.append(make("h2", "pl-side-title", wanted.titles[side]));
    document.querySelector(".pl-sides").append(host);
    pages.push(new AlonePage(album, host, wanted, pages[0] ?? null));
    await pages.at(-1).start();
  }
  followSlides(pages[0].player);
  passKeysOn();
  await Promise.all(pages.map((page) => page.finished));
  await painted();
  performance.mark("ready");
  document.documentElement.dataset.ready = "yes";
}

begin().catch((problem) => {
  document.querySelector(".pl-sides").textContent = `This page could not be shown: ${problem.message}`;
});

// What a page that stands alone has in common, with recorded states or with Python in a worker: the window is its frame.
import { Page } from "./page.js";

export class PageAlone extends Page {
  constructor(model, host, leader = null) {
    super(model, host, leader);
    this.root.removeAttribute("tabindex");
    this.keyboard = document.body;
  }

  get watched() {
    return document.querySelector(".pl-alone");
  }

  find(selector) {
    return super.find(selector) ?? document.querySelector(`.pl-shared ${selector}`);
  }

  listen() {
    super.listen();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.setTheme());
    addEventListener("resize", () => {
      cancelAnimationFrame(this.resizing);
      this.resizing = requestAnimationFrame(() => this.repaint()); // of a single figure, words grow with the window, too
    });
  }

  dark() {
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }

  setTheme() {
    super.setTheme();
    const page = document.documentElement;
    page.style.colorScheme = this.dark() ? "dark" : "light";
    for (const [role, colour] of Object.entries(this.figures.palettes[this.root.dataset.theme])) page.style.setProperty(`--pl-${role}`, colour);
  }
}

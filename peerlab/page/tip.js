// The tip beside the pointer: on a slice what it does and when, on a part of the picture what that carries and how busy it is.
import { make } from "./dom.js";
import { sayTime } from "./words.js";

const CLOSE = 5; // units of the scene from the middle of a slice at which it is meant

/**
 * @typedef {object} Tip The tip on one part of the picture
 * @property {[number, number, number, number]} box
 * @property {string} title
 * @property {string[]} lines
 * @property {string[]} sources
 */
export class PartTip {
  constructor(scene) {
    this.scene = scene;
    this.box = scene.host.appendChild(make("div", "pl-tip"));
    this.box.hidden = true;
    scene.host.addEventListener("mousemove", (event) => this.point(event));
    scene.host.addEventListener("mouseleave", () => (this.box.hidden = true));
  }

  point({ clientX, clientY }) {
    const { host } = this.scene, room = host.getBoundingClientRect();
    const [across, down] = [clientX - room.left, clientY - room.top], { width, height } = this.scene.units;
    const told = this.at(...this.scene.wide([(across / room.width) * width, (down / room.height) * height]));
    this.box.hidden = !told;
    if (!told) return;
    this.box.replaceChildren(make("b", "", told.title), ...[...told.lines, ...(told.sources ?? [])].map((line) => make("div", "", line)));
    const { offsetWidth, offsetHeight } = this.box, left = Math.min(Math.max(0, across + 14), room.width - offsetWidth);
    Object.assign(this.box.style, { left: `${left}px`, top: `${down + 18 + offsetHeight > room.height ? down - offsetHeight - 10 : down + 18}px` });
  }

  // What is to be said of a place: of the slice there, else of the smallest part that it lies in.
  at(x, y) {
    const { shown, data } = this.scene, slice = shown && nearest([...shown.queued.filter((one) => one.points), ...shown.trains], x, y);
    if (slice) return this.ofSlice(slice);
    const size = ({ box: [left, top, right, bottom] }) => (right - left) * (bottom - top);
    const inside = data.tips.filter(({ box: [left, top, right, bottom] }) => left <= x && x <= right && top <= y && y <= bottom);
    return inside.sort((a, b) => size(a) - size(b))[0];
  }

  ofSlice({ row, shift, segment, j, stage, hollow, phase }) {
    const { moves, page } = this.scene, { stages, device } = page.timeline.data, step = moves.step[row] + j * segment.steps;
    const whose = hollow ? "at the neighbours: " : "", waits = phase === undefined ? [] : ["waits in front of what stands beside it"];
    const start = moves.start[row] + shift, through = moves.through[row] + shift;
    const lines = [`${whose}${device} ${moves.device[row]}, step ${step + 1}, slice ${moves.slice[row]}`, ...waits];
    return { title: stages[stage], lines: [...lines, `from ${sayTime(start)} to ${sayTime(through)} (${sayTime(through - start)})`] };
  }
}

// The slice whose middle line is nearest to a place, if one is near enough; what lies on top counts first.
function nearest(slices, x, y) {
  let near = CLOSE, found = null;
  for (const one of slices)
    for (let i = 1; i < one.points.length; i++) {
      const [[a, b], [c, d]] = [one.points[i - 1], one.points[i]];
      const aside = x - Math.max(Math.min(a, c), Math.min(x, Math.max(a, c))), above = y - Math.max(Math.min(b, d), Math.min(y, Math.max(b, d)));
      const away = Math.hypot(aside, above);
      if (away < near) [near, found] = [away, one];
    }
  return found;
}

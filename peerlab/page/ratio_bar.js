// The bar below a ratio: the range in which it lies, what was simulated, and what it would be if another assumption held.
import { make } from "./dom.js";
import { sayTimes } from "./words.js";

export function ratioBar({ value, low, high, others }) {
  const all = [1, value, low ?? value, high ?? value, ...others.map(({ ratio }) => ratio)];
  const from = Math.min(...all), to = Math.max(2, ...all), at = (ratio) => `${((100 * (ratio - from)) / (to - from)).toFixed(2)}%`;
  const bar = make("div", "pl-bar"), put = (className, ratio, title) => {
    const mark = bar.appendChild(make("i", className));
    mark.style.left = at(ratio);
    if (title) mark.title = title;
    return mark;
  };
  if (low !== null) put("pl-bar-range", low).style.right = `calc(100% - ${at(high)})`;
  for (const { says, ratio } of others) put("pl-bar-other", ratio, `${sayTimes(ratio)} if ${says}`);
  put("pl-bar-here", value, `${sayTimes(value)}, simulated`);
  for (const ratio of [from, to]) put("pl-bar-end", ratio).textContent = sayTimes(ratio).replace(/\.00×/, "×");
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${sayTimes(value)} on a scale from ${sayTimes(from)} to ${sayTimes(to)}`);
  return bar;
}

// Whether the pointer rests, as on a slide that somebody speaks to: what needs a pointer is quiet then.
const REST_MS = 3000;

// Marks an element while the pointer has not moved for some seconds, until `signal` ends it.
export function markRest(element, signal) {
  let timer = 0;
  const moved = () => {
    element.removeAttribute("data-rests");
    clearTimeout(timer);
    timer = setTimeout(() => element.setAttribute("data-rests", ""), REST_MS);
  };
  for (const kind of ["pointermove", "pointerdown"]) addEventListener(kind, moved, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  moved();
}

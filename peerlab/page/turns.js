// Turns of the browser's event loop: when what was asked for has happened.
const nextFrame = () => new Promise(requestAnimationFrame);

// Bokeh takes new data in a chain of promises; these many turns see to its end (else it only paints once more).
export async function settled() {
  for (let count = 0; count < 40; count++) await null;
}

// Resolves when what was drawn until now is on its way to the screen.
export async function painted() {
  await settled();
  await settled();
  await nextFrame();
  await Promise.race([turn(), nextFrame()]);
}

// Resolves behind what waits already.
export async function turn() {
  const { port1, port2 } = new MessageChannel();
  const came = new Promise((resolve) => (port1.onmessage = resolve));
  port2.postMessage(0);
  await came;
  port1.close();
}

// A page that finds what lies beside it only from a server: a browser lets no file start a worker of another file.

export function openedAsFile() {
  return location.protocol === "file:" ? "Opened as a file, this page cannot start Python. Serve its folder: peerlab site --serve, or any web server." : "";
}

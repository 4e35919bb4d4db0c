#!/bin/sh
# Finds Chromium for the browser tests, installs Debian's when it may, or says plainly what is missing.
# Debian's headless one comes first: it has no window to draw, and the same pages take two thirds of the time.
set -eu
find_it() {
    for name in "$@"; do
        if command -v "$name" >/dev/null 2>&1; then return 0; fi
    done
    return 1
}
install_it() {
    timeout 300 apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}
others="chromium chromium-browser google-chrome google-chrome-stable"
if find_it ${PEERLAB_CHROMIUM:-chromium-headless-shell}; then exit 0; fi
if [ -z "${PEERLAB_CHROMIUM:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Debian's headless Chromium for the browser tests"
    export DEBIAN_FRONTEND=noninteractive
    install_it chromium-headless-shell || {
        timeout 120 apt-get update -qq >/dev/null 2>&1 || true
        install_it chromium-headless-shell || find_it $others || install_it chromium || true
    }
fi
if find_it ${PEERLAB_CHROMIUM:-} chromium-headless-shell $others; then exit 0; fi
echo "The browser tests need Chromium, and there is none here. Install it (Debian: apt install chromium)," >&2
echo "or set PEERLAB_CHROMIUM to the program." >&2
exit 1

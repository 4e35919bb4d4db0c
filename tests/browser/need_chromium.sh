#!/bin/sh
# Finds Chromium for the browser tests, installs Debian's when it may, or says plainly what is missing.
# Debian's headless package comes first: it has no window to draw, and the same pages take two thirds of the time.
set -eu
find_it() {
    for name in ${PEERLAB_CHROMIUM:-} chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
        if command -v "$name" >/dev/null 2>&1; then return 0; fi
    done
    return 1
}
install_it() {
    apt-get install -y -qq --no-install-recommends "$1" >/dev/null 2>&1
}
if find_it; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Chromium for the browser tests"
    export DEBIAN_FRONTEND=noninteractive
    install_it chromium-headless-shell || {
        apt-get update -qq >/dev/null 2>&1 || true
        install_it chromium-headless-shell || install_it chromium || true
    }
    if find_it; then exit 0; fi
fi
echo "The browser tests need Chromium, and there is none here. Install it (Debian: apt install chromium)," >&2
echo "or set PEERLAB_CHROMIUM to the program." >&2
exit 1

#!/bin/sh
# Makes the virtual environment, or says in one line what this machine lacks for it.
set -eu
python=$1 venv=$2
if ! command -v "$python" >/dev/null 2>&1; then
    echo "peerlab needs Python 3.11 to 3.14; '$python' was not found. Try: make PYTHON=python3.12 ..." >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'; then
    echo "peerlab needs Python 3.11 to 3.14; '$python' is $("$python" -V). Try: make PYTHON=python3.12 ..." >&2
    exit 1
fi
if "$python" -m venv "$venv" >/dev/null 2>&1; then exit 0; fi
rm -rf "$venv"
# Debian keeps venv in a package of its own.
package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing $package"
    apt-get install -y -qq "$package" >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq "$package" >/dev/null; }
    exec "$python" -m venv "$venv"
fi
echo "$python cannot make a virtual environment here. On Debian or Ubuntu: apt install $package" >&2
exit 1

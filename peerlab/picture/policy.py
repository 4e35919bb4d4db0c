"""What a page of ours lets run: its own scripts, by name. It fetches nothing."""

from base64 import b64encode
from hashlib import sha256


def inline(script: str) -> str:
    """Return a script that an HTML parser does not take for its own end; a text in it stays the same text."""
    # A parser reads both ends of a line as one, and the hash is of what it reads.
    return script.replace("\r\n", "\n").replace("</script", r"<\/script").replace("<!--", r"<\!--")


def policy(*scripts: str, wasm: str = "", frames: bool = False) -> str:
    """Return the elements that let exactly these scripts run, as they stand in the page, and nothing be fetched.

    BokehJS writes its styles into the page as it goes, so inline styles are allowed; it needs no eval and no worker. A page that runs
    WebAssembly in a worker says with `wasm` where its files are from: ``'self'``, or ``blob:`` where it carries them; `frames`: whether it frames pages that lie beside it.
    """
    hashes = " ".join(
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    more = f" {wasm} 'wasm-unsafe-eval'; worker-src {wasm}; connect-src {wasm}" if wasm else ""
    framed = "; frame-src 'self'" if frames else ""
    rules = (
        f"default-src 'none'; script-src {hashes}{more}{framed}; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    # Without an icon of its own a page asks its server for one, which the rules refuse: Firefox complains of that.
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}"><link rel="icon" href="data:,">'

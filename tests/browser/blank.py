"""Our scripts on a blank page: no JupyterLab, no kernel, only BokehJS and what Python sends."""

import json
from base64 import b64encode
from functools import cache

from shown import Shown

import peerlab
from peerlab import page as sources
from peerlab.features.measure.this_machine import here
from peerlab.picture.bokeh_document import bokeh_script, document
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.curves import curves
from peerlab.picture.measured import overlay
from peerlab.picture.path_ratio import path_ratio
from peerlab.picture.payload import payload
from peerlab.picture.theme import palettes
from peerlab.picture.views import VIEWS
from peerlab.question.host_switch import detour_and_direct

MODEL = """
class Model {
  constructor(values) { Object.assign(this, { values, heard: new Map(), sent: [] }); }
  get(name) { return this.values[name]; }
  set(name, value) { this.values[name] = value; this.tell(`change:${name}`); }
  on(name, act) { this.heard.set(name, [...(this.heard.get(name) ?? []), act]); }
  off(name, act) { this.heard.set(name, (this.heard.get(name) ?? []).filter((one) => one !== act)); }
  tell(name, ...said) { for (const act of this.heard.get(name) ?? []) act(...said); }
  send(message) { this.sent.push(message); }
}
const revived = (text) => JSON.parse(text, (_, one) =>
  typeof one?.base64 === "string" ? new DataView(Uint8Array.from(atob(one.base64), (letter) => letter.charCodeAt(0)).buffer) : one);
"""
"""A model as anywidget's; nobody is behind it but a test."""

START = """
const signal = () => ({ acts: new Set(), connect(act) { this.acts.add(act); }, disconnect(act) { this.acts.delete(act); } });
const kernel = { statusChanged: signal(), disposed: signal() }; // of JupyterLab's kernel connection, what a widget hears
globalThis.tellKernel = (name, ...said) => { for (const act of [...kernel[name].acts]) act(kernel, ...said); };
globalThis.show = async (values) => {
  const model = Object.assign(new Model(revived(values)), { widget_manager: { kernel } }), el = document.body.appendChild(document.createElement("div"));
  el.className = "pl-explorer";
  globalThis.closePage = await render({ model, el });
};
"""


def sent(value):
    """Return a value as text, with bytes in base64."""
    return json.dumps(value, default=lambda raw: {"base64": b64encode(raw).decode()})


@cache
def run(**fields):
    """Return a run; each is simulated once."""
    return peerlab.simulate(peerlab.Scenario(**{"path": "host-rdma", **fields}))


@cache
def lines_of(scenario, axis):
    """Return the curves of a scenario along an axis, without bands."""
    found = [
        (line, [one and peerlab.simulate(one) for one in line.scenarios]) for line in lines(scenario, axis)
    ]
    return curves(scenario, axis, found)


@cache
def ratio_of(scenario):
    """Return the ratio of the scenario's path and the other one, with its range; nothing where there are no two."""
    pair = detour_and_direct(scenario)
    if pair is None:
        return {}
    slow, fast = map(peerlab.simulate, pair)
    return path_ratio(slow, fast, fast.gain_band(slow)) or {}


class Blank(Shown):
    """A blank page with the lab's script; `show` gives it runs."""

    def __init__(self, page):
        super().__init__(page)
        self.complaints = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.set_content(f"<!doctype html><meta charset=utf-8><style>{sources.style('page')}</style><body>")
        page.add_script_tag(path=bokeh_script())
        code = sources.script_of("lab", tuple(VIEWS))
        page.add_script_tag(content=f"(() => {{ {code}\n{MODEL}\n{START} globalThis.revived = revived }})();")
        self.last, self.number = None, 0

    def open(self, first):
        """Show another page of ours, which begins with a run."""
        self.last, self.number = first, 1
        values = {
            "document": json.dumps(document()),
            "palettes": palettes(),
            "data": payload(first, None, 1),
            "curves": lines_of(first.scenario, "nodes"),
            "ratio": ratio_of(first.scenario),
            "measured": {**overlay(first.scenario, ()), "here": here([])},
            "status": {},
        }
        self.page.evaluate("values => show(values)", sent(values))
        self.settle()

    def change(self, then, *, lines=True):
        """Show another run, as Python does when a control asks for it; without `lines` its curves stay those before."""
        self.number += 1
        self.give("ratio", ratio_of(then.scenario))
        data = payload(then, self.last, self.number)
        self.last = then
        self.give("data", data)
        if lines:
            self.give("curves", lines_of(then.scenario, "nodes"))
        self.settle()

    def give(self, name, value):
        """Change a value of the model."""
        self.ask("(page, [name, text]) => page.model.set(name, revived(text))", [name, sent(value)])

    def settle(self):
        """Wait until what was given last is painted."""
        self.page.wait_for_function(
            """number => { const page = [...window.peerlabPages ?? []].at(-1);
                 return page?.root.dataset.painted === number && page.curves.mark === page.data.meta.mark }""",
            arg=str(self.number),
        )

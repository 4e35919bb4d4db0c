"""A page of ours as somebody meets it, wherever it is shown: what tests ask of it and do with it."""


class Shown:
    """The page object in a browser's page."""

    def __init__(self, page):
        self.page = page

    def ask(self, script, argument=None, side=0):
        """Evaluate a function of a page object (the first, unless `side` says which) and an argument."""
        return self.page.evaluate(
            f"([side, argument]) => ({script})([...window.peerlabPages].at(side), argument)", [side, argument]
        )

    def still(self, part=0.4):
        """Pause at a part of the run."""
        self.ask(
            "(page, part) => { page.player.wanted = false; page.player.seek(part * page.player.length); }",
            part,
        )

    def card(self, name, side=0):
        return self.page.locator(f".pl-card[data-name={name}]").nth(side).inner_text()

    def figure(self, name):
        """Return a field of the busbw card."""
        return self.ask(f"page => page.data.views.headline.cards[0].{name}")

    def data(self):
        """Return a fingerprint of everything the figures show."""
        return self.ask(
            """page => JSON.stringify(['scene_texts', 'scene_loads', 'timeline_spans', 'curves_marks', 'curves_lines', 'scene_slices',
                 'scene_rows', 'scene_words'].map(name => page.figures.model(name).data))"""
        )

    def column(self, source, name):
        """Return a column of a figure's source."""
        return self.ask("(page, [source, name]) => page.figures.model(source).data[name]", [source, name])
